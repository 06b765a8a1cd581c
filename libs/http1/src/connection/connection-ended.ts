/** Why a connection ended, in our own words: the message contains no data of the connection and may be shown. */
export class ConnectionEnded extends Error {
  constructor(why: string) {
    super(why);
    this.name = new.target.name;
  }
}
