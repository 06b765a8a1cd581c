import { openerFor } from './open-page.js';

describe(openerFor.name, () => {
  it.each([
    ['darwin', {}, 'open'],
    ['win32', {}, 'rundll32'],
    ['linux', { DISPLAY: ':0' }, 'xdg-open'],
    ['linux', { WAYLAND_DISPLAY: 'wayland-0' }, 'xdg-open'],
    ['linux', {}, undefined],
    ['linux', { DISPLAY: '' }, undefined],
  ])('on %s with %j is %s', (platform, env, program) => {
    expect(openerFor(platform, env)?.[0]).toBe(program);
  });
});
