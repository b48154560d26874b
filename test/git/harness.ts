// What the end-to-end tests of git hosting share.

export * from './client.ts'
export * from './host.ts'
export * from './raw-push.ts'
export * from './server.ts'
