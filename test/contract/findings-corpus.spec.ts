import { judge, poisonedChanges, realChanges } from '../../bench/findings/corpus.js';

/** bench/FINDINGS.md says where the changes come from. */
describe('a changed tool of a server that is trusted by default', () => {
  it('is withheld in at least 95 of 100 changes after published attacks', async () => {
    const changes = await poisonedChanges();
    expect(changes).toHaveLength(100);
    const offered = changes.filter((change) => !judge(change).isWithheld);
    expect(offered.map(({ kind, after }) => [kind, after['description']]).slice(5)).toEqual([]);
  });

  it('is offered in at least 99 of 100 differences between versions of servers', async () => {
    const changes = await realChanges();
    expect(changes).toHaveLength(100);
    const withheld = changes.filter((change) => judge(change).isWithheld);
    expect(withheld.map(({ kind, after }) => [kind, after['name']]).slice(1)).toEqual([]);
  });
});
