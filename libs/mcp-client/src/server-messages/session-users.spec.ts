import { jest } from '@jest/globals';
import { SessionUsers } from './session-users.js';

describe(SessionUsers.name, () => {
  let users: SessionUsers;

  beforeEach(() => {
    jest.useFakeTimers();
    users = new SessionUsers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('knows none, one or several', () => {
    expect(users.only).toBeUndefined();
    users.note('ada');
    users.note('ada');
    expect(users.only).toBe('ada');
    users.note('bob');
    users.note('ada');
    expect(users.only).toBeNull();
  });

  it('remembers an abandoned call of another user for as long as it could have lasted', () => {
    users.leaveBehind(1, 'ada', 60_000);
    users.leaveBehind(2, 'ada', 1_000);
    expect([users.hasLeftOver('ada'), users.hasLeftOver('bob')]).toEqual([false, true]);
    jest.advanceTimersByTime(59_999);
    expect(users.hasLeftOver('bob')).toBe(true);
    jest.advanceTimersByTime(1);
    expect(users.hasLeftOver('bob')).toBe(false);
  });

  it('forgets it when the server has answered it, and no other of that user', () => {
    users.leaveBehind(1, 'ada', 60_000);
    users.leaveBehind(2, 'ada', 60_000);
    users.noteAnswered(1);
    expect(users.hasLeftOver('bob')).toBe(true);
    users.noteAnswered(2);
    expect(users.hasLeftOver('bob')).toBe(false);
  });

  it('remembers one user beside another whose time is over', () => {
    users.leaveBehind(1, 'ada', 1_000);
    users.leaveBehind(2, 'cid', 2_000);
    jest.advanceTimersByTime(1_000);
    expect([users.hasLeftOver('bob'), users.hasLeftOver('cid')]).toEqual([true, false]);
  });

  it('attributes nothing while it cannot remember all of them', () => {
    for (let id = 1; id <= 4_096; id++) users.leaveBehind(id, 'ada', 1_000);
    expect(users.hasLeftOver('ada')).toBe(false);
    users.leaveBehind(4_097, 'ada', 2_000);
    for (let id = 1; id <= 4_097; id++) users.noteAnswered(id);
    expect(users.hasLeftOver('ada')).toBe(true);
    jest.advanceTimersByTime(2_000);
    expect(users.hasLeftOver('ada')).toBe(false);
    users.leaveBehind(4_098, 'ada', 1_000);
    expect(users.hasLeftOver('bob')).toBe(true);
  });
});
