import { fillingRoom } from './discover-waiting-servers.command.js';

describe(fillingRoom.name, () => {
  const waiting = [
    { id: 'a', leftOut: 10 },
    { id: 'b', leftOut: 5 },
    { id: 'c', leftOut: 1 },
  ];
  const idsFor = (free: number): string[] => fillingRoom(waiting, free).map(({ id }) => id);

  it('discovers the servers that were registered first, as many as the room needs', () => {
    expect(idsFor(1)).toEqual(['a']);
    expect(idsFor(10)).toEqual(['a']);
    expect(idsFor(11)).toEqual(['a', 'b']);
    expect(idsFor(100)).toEqual(['a', 'b', 'c']);
  });

  it('discovers none while there is no room', () => {
    expect(idsFor(0)).toEqual([]);
    expect(idsFor(-3)).toEqual([]);
  });
});
