/** Views, grants or overrides changed, or were read again; published when this process follows them. */
export class PolicyChanged {}
