import { execFile } from 'node:child_process'

/** What the shell says about a script that it cannot read. It is not run. */
export const syntaxError = (file: string): Promise<string | undefined> =>
  new Promise((resolve, reject) => {
    execFile('sh', ['-n', `./${file}`], { timeout: 10_000 }, (error, _stdout, stderr) => {
      if (!error) resolve(undefined)
      // No number: there is no shell, which is not the script's fault.
      else if (typeof error.code === 'number') resolve(stderr.trim())
      else reject(error)
    })
  })
