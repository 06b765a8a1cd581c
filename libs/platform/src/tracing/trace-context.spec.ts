import { carrierOf, readTraceContext } from './trace-context.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const SPAN = '00f067aa0ba902b7';
const valid = `00-${TRACE}-${SPAN}-01`;

describe(readTraceContext, () => {
  it('reads trace, span and the decision of the sender', () => {
    const state = undefined;
    expect(readTraceContext(valid, undefined)).toEqual({
      ...{ traceId: TRACE, spanId: SPAN, isSampled: true, state },
    });
    expect(readTraceContext(`00-${TRACE}-${SPAN}-00`, undefined)?.isSampled).toBe(false);
    expect(readTraceContext(`00-${TRACE}-${SPAN}-03`, undefined)?.isSampled).toBe(true);
  });

  it.each([
    ['text after it', `${valid}-00`],
    ['the version ff', `ff-${TRACE}-${SPAN}-01`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['a span of zeros', `00-${TRACE}-${'0'.repeat(16)}-01`],
    ['capital letters', valid.toUpperCase()],
    ['a line break', `${valid}\n`],
    ['no text', 1],
    ['two of them', `${valid}, ${valid}`],
  ])('reads none with %s', (_what, text) => {
    expect(readTraceContext(text, undefined)).toBeUndefined();
  });

  it('reads what a later version begins with', () => {
    expect(readTraceContext(`01-${TRACE}-${SPAN}-01-more`, undefined)?.traceId).toBe(TRACE);
    expect(readTraceContext(`01-${TRACE}-${SPAN}-01more`, undefined)).toBeUndefined();
  });

  it.each([
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    [' a=1 , b=2 ,', 'a=1,b=2'],
    ['tenant@system=1', 'tenant@system=1'],
    ['a=1,a=2', undefined],
    ['A=1', undefined],
    ['a=1=2', undefined],
    ['a=\r\nx-evil: 1', undefined],
    [`a=${'x'.repeat(600)}`, undefined],
    [Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(), undefined],
    [7, undefined],
  ])('reads the state %j as %j', (text, state) => {
    expect(readTraceContext(valid, text)?.state).toBe(state);
  });
});

describe(carrierOf, () => {
  it('writes what it was read from', () => {
    const context = readTraceContext(valid, 'a=1');
    expect(context && carrierOf(context)).toEqual({ traceparent: valid, tracestate: 'a=1' });
  });
});
