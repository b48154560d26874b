import { defaulted, GB, MB, oneOf, wholeNumber } from './kinds.ts'

/** What extensions may do, and how they run. */
export const extensionSettings = {
  TRELLIS_EXTENSIONS: defaulted(
    'Whether there are extensions, and with them their records, runs, daemons and secrets.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_RECORDS: defaulted(
    'Whether rows of records can be read and written. What is promoted changes their schemas also while they cannot.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_SANDBOX: defaulted(
    'Whether extensions may run in the sandbox runtime, as processes of this machine.',
    'on',
    oneOf('on', 'off'),
  ),
  TRELLIS_SANDBOX_TIMEOUT_SECONDS: defaulted(
    'How long a run in the sandbox may take.',
    '600',
    wholeNumber(1, 86_400),
  ),
  TRELLIS_SANDBOX_MEMORY_MB: defaulted(
    'Memory of a run in the sandbox, all its processes together.',
    '1024',
    wholeNumber(128, 1024 * 1024),
  ),
  TRELLIS_SANDBOX_DISK_MB: defaulted(
    'What a run in the sandbox may write to its tree and `/tmp`. It is kept in memory, on top of the other.',
    '512',
    wholeNumber(16, 1024 * 1024),
  ),
  TRELLIS_SANDBOX_PROCESSES: defaulted(
    'Processes and threads of a run in the sandbox. Node alone has about fifteen.',
    '256',
    wholeNumber(32, 100_000),
  ),
  TRELLIS_SANDBOX_CONCURRENCY: defaulted(
    'Runs in the sandbox at once, in this process. Half of these places are for organizations that hold none.',
    '8',
    wholeNumber(1, 1000),
  ),
  TRELLIS_ORG_MAX_SANDBOXED: defaulted(
    'Runs of an organization in the sandbox at once, in all processes.',
    '2',
    wholeNumber(1, 1000),
  ),
  TRELLIS_SANDBOX_TREE_BYTES: defaulted(
    'Disk space for the files of commits, so that the next run of the same commit need not check them out.',
    String(2 * GB),
    wholeNumber(0),
  ),
  TRELLIS_BUNDLE_CACHE_BYTES: defaulted(
    'Disk space for built modules of extensions. What is in force is kept on top of it.',
    String(2 * GB),
    wholeNumber(0),
  ),
  TRELLIS_RUN_TIMEOUT_SECONDS: defaulted(
    'How long a run of an extension may take; in the workflow runtime each stretch between two steps.',
    '30',
    wholeNumber(1, 3600),
  ),
  TRELLIS_RUN_MEMORY_MB: defaulted('Memory of a run in the worker runtime.', '128', wholeNumber(16, 4096)),
  TRELLIS_RUN_LOG_BYTES: defaulted(
    'What the log of a run may take. What it says beyond that is not kept.',
    String(MB),
    wholeNumber(1024, 64 * MB),
  ),
  TRELLIS_RUN_CONCURRENCY: defaulted(
    'Runs of extensions this process may have under way, those in the sandbox apart; with 0 it leaves all to others.',
    '16',
    wholeNumber(0, 1000),
  ),
  TRELLIS_RUN_LEASE_SECONDS: defaulted(
    'How long a process may be silent before others take over its runs; the same for every process over one database.',
    '15',
    wholeNumber(1, 3600),
  ),
  TRELLIS_RUN_RETENTION_DAYS: defaulted(
    'How long runs that ended are kept, with their logs.',
    '30',
    wholeNumber(1, 36_500),
  ),
  TRELLIS_ORG_MAX_RUNNING: defaulted(
    'Runs of an organization under way at once, in all processes, those in the sandbox apart.',
    '8',
    wholeNumber(1, 1000),
  ),
  TRELLIS_ORG_MAX_QUEUED: defaulted(
    'Runs of an organization that may wait. Beyond it, runs are rejected.',
    '1000',
    wholeNumber(1, 100_000),
  ),
  TRELLIS_ORG_MAX_UNENDED: defaulted(
    'Runs of an organization that have not ended: those that wait, run or sleep; a tenth of it of one that nobody has claimed. Beyond it, runs are rejected.',
    '10000',
    wholeNumber(1, 1_000_000),
  ),
  TRELLIS_ORG_MAX_RUN_BYTES: defaulted(
    'What is kept of the runs of an organization: what they were given and gave, their steps and their logs; a tenth of it of one that nobody has claimed. Beyond it, the oldest that ended are removed; where those that have not ended keep more, runs are rejected and workflows fail at their next step.',
    String(GB),
    wholeNumber(MB),
  ),
  TRELLIS_ORG_MAX_DAEMONS: defaulted(
    'Daemons in all repositories of an organization.',
    '1000',
    wholeNumber(0, 100_000),
  ),
}
