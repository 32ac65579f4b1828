/** Modules of plugins.conf: only handlers reach the event loop. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HandlerState } from '#plugins/controller/api/handler-state.ts';
import { handlersOf } from '../../../../src/cmd/agent/plugin-modules/handlers-of.ts';
import type {
  MakePlugin,
  PluginHost,
} from '../../../../src/cmd/agent/plugin-modules/plugin-host.ts';

const handler = {
  name: 'h',
  handlesEvent: () => true,
  resync: () => undefined,
  update: () => undefined,
};

function made(make: () => unknown) {
  const module = { path: '/p.js', options: {}, make: make as MakePlugin };
  return handlersOf([module], {} as PluginHost, [{ ...handler, name: 'service' }]);
}

describe('a module of plugins', () => {
  it('makes one handler, or several', () => {
    assert.equal(made(() => handler).length, 1);
    assert.equal(made(() => [{ ...handler, state: new HandlerState('h') }]).length, 1);
  });

  const faults: readonly (readonly [fault: RegExp, make: () => unknown])[] = [
    [/makes no handler/, () => []],
    [/without a name/, () => null],
    [/without a name/, () => [{}]],
    [/has no resync\(\)/, () => ({ ...handler, resync: 1 })],
    [/another handler has the name service/, () => ({ ...handler, name: 'service' })],
    [/another handler has the name h/, () => [handler, handler]],
    [/asynchronous/, async () => handler],
    [/state of its handler h is no HandlerState/, () => ({ ...handler, state: { count: 0 } })],
    [
      /of nothing/,
      () => {
        throw new TypeError('of nothing');
      },
    ],
  ];
  for (const [fault, make] of faults)
    it(`stops the start with its path: ${fault.source}, ${make}`, () => {
      assert.throws(() => made(make), { code: 'CV_PLUGIN_MODULE', message: fault });
    });
});
