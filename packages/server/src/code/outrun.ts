/** The repository has changed since it was looked at. What was prepared does not fit any more, and nothing was changed. */
export class Outrun extends Error {}
