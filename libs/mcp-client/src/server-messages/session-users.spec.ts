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

  it('remembers an abandoned call of another user for ten minutes', () => {
    users.leaveBehind('ada', 1_000);
    expect([users.hasLeftOver('ada'), users.hasLeftOver('bob')]).toEqual([false, true]);
    jest.advanceTimersByTime(599_999);
    expect(users.hasLeftOver('bob')).toBe(true);
    jest.advanceTimersByTime(1);
    expect(users.hasLeftOver('bob')).toBe(false);
  });

  it('remembers it for as long as the call could have lasted', () => {
    users.leaveBehind('ada', 900_000);
    users.leaveBehind('ada', 1_000);
    jest.advanceTimersByTime(899_999);
    expect(users.hasLeftOver('bob')).toBe(true);
    jest.advanceTimersByTime(1);
    expect(users.hasLeftOver('bob')).toBe(false);
  });

  it('remembers one user beside another whose time is over', () => {
    users.leaveBehind('ada', 1_000);
    jest.advanceTimersByTime(300_000);
    users.leaveBehind('cid', 1_000);
    jest.advanceTimersByTime(300_000);
    expect([users.hasLeftOver('bob'), users.hasLeftOver('cid')]).toEqual([true, false]);
  });
});
