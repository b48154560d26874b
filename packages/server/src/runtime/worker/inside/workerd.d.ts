// What is used of workerd, inside of which the files of this folder run.

declare module 'cloudflare:workers' {
  export class WorkerEntrypoint {}
}
