/** Values of `OTEL_TRACES_SAMPLER`; those with `parentbased_` follow the decision of a client that sends a trace context. */
export const samplers = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;
