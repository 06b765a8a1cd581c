/** Variables that make interpreters and loaders run other code, or that tell programs which servers to contact. */
export const STEERING =
  /^(?:PATH|HOME|SHELL|IFS|ENV|BASH_ENV|(?:LD|DYLD|NODE|PYTHON|PERL|RUBY|JAVA|_JAVA|JDK|GIT|NPM|SSL)[A-Z0-9_]*)$|PROXY|URL|URI|HOST|ENDPOINT|ORIGIN|SERVER|ADDRESS|DOMAIN|REGISTRY/i;
