/** Why a login at the identity provider failed, in words for the person. */
export class LoginFailed extends Error {
  constructor(
    message: string,
    readonly status: 400 | 403 | 502 | 503,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}
