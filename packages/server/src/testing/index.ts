export * from './databases.ts'
export * from './test-app.ts'
