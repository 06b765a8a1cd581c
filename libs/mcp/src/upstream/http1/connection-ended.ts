/** Why a connection is at its end, in words of ours: they hold nothing of what was sent, and may be shown. */
export class ConnectionEnded extends Error {
  constructor(why: string) {
    super(why);
    this.name = new.target.name;
  }
}
