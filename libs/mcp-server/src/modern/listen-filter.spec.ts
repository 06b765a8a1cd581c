import { accepts, honoured, urisOf, written } from './listen-filter.js';

const all = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
};
const asked = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  resourceSubscriptions: ['a:', 'b:', 7],
};

describe('what a client listens to', () => {
  it('is what it asked for', () => {
    expect(honoured(asked, all, ['a:'])).toEqual({
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      resourceSubscriptions: ['a:'],
    });
    expect(honoured({}, all, [])).toEqual({});
  });

  it.each([
    ['tools', 'toolsListChanged'],
    ['prompts', 'promptsListChanged'],
    ['resources', 'resourcesListChanged'],
  ] as const)(
    'has changes of %s only if the view tells them and the client wants them',
    (family, flag) => {
      expect(honoured({ [flag]: true }, all, [])).toEqual({ [flag]: true });
      for (const capability of [undefined, {}, { listChanged: false }, 'x']) {
        expect(honoured(asked, { ...all, [family]: capability ?? null }, [])).not.toHaveProperty(
          flag,
        );
      }
      for (const wanted of [false, 'true', null]) {
        expect(honoured({ ...asked, [flag]: wanted }, all, [])).not.toHaveProperty(flag);
      }
    },
  );

  it('are the URIs that are text, if the view has subscriptions', () => {
    expect([...urisOf(asked, all)]).toEqual(['a:', 'b:']);
    expect([...urisOf({}, all)]).toEqual([]);
    expect([...urisOf({ resourceSubscriptions: 'a:' }, all)]).toEqual([]);
    expect([...urisOf(asked, { resources: { listChanged: true } })]).toEqual([]);
  });

  it('is repeated to the client', () => {
    expect(written({ toolsListChanged: true })).toEqual({ toolsListChanged: true });
    expect(written({ resourceSubscriptions: ['a:'] })).toEqual({ resourceSubscriptions: ['a:'] });
  });

  it.each(['tools', 'prompts', 'resources'] as const)(
    'lets through changes of %s alone',
    (kind) => {
      const filter = honoured({ [`${kind}ListChanged`]: true }, all, []);
      for (const other of ['tools', 'prompts', 'resources'] as const) {
        expect(accepts(filter, { kind: other } as never)).toBe(other === kind);
      }
    },
  );

  it('lets through no log messages', () => {
    expect(accepts(honoured(asked, all, []), { kind: 'log' } as never)).toBe(false);
  });
});
