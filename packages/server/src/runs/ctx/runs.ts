import { contract } from '@trellis/contract'
import { parseInputOf } from '../../operations/implement.ts'
import { type Dispatching, rejected } from '../dispatching.ts'
import { presentRun } from '../presenting.ts'
import type { CtxMethods } from './methods.ts'

/** `ctx.runs`: other extensions of the same repository. */
export const runMethods = ({ dispatchFrom }: Pick<Dispatching, 'dispatchFrom'>): CtxMethods => ({
  'runs.dispatch': {
    needs: 'runs:dispatch',
    writes: true,
    refusal: () => rejected('capability_missing'),
    async perform({ run, repo, caller, args, signal }) {
      const [extension, given] = args
      const { input } = parseInputOf(contract.runs.dispatch, {
        name: repo.name,
        extension,
        input: given ?? {},
      })
      const asked = { caller, repo, extension: String(extension), input }
      return presentRun(await dispatchFrom(run, asked, signal), repo.name)
    },
  },
})
