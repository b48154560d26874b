/** Why a server does not start, for its operator, who can mend it: the message says how, and nobody needs a stack. */
export class StartError extends Error {}
