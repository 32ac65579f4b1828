/** How random messages are played to a VPP that does not take them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type VppClient, VppDisconnectedError, VppTimeoutError } from '#vpp/binapi/api.ts';
import { message, sendAll } from './random-requests.ts';

const messages = message(1, 'delete_loopback', fc.constant({ sw_if_index: 7 })).arbitrary;
const [one] = fc.sample(messages, 1);

function answering(...errors: readonly Error[]): VppClient {
  const left = [...errors];
  const request = async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return {};
  };
  return { request } as unknown as VppClient;
}

describe('random messages to a VPP', () => {
  const silence = new VppTimeoutError('VPP did not answer within 10000 ms');

  test('that ends itself are those that it has answered', async () => {
    const end = new VppDisconnectedError('the connection to VPP broke');
    const answers = await sendAll(answering(end), [one!, one!]);
    assert.deepEqual(answers, []);
  });

  test('that is silent are named', async () => {
    for (const error of [silence, new VppDisconnectedError('VPP went away', { cause: silence })])
      await assert.rejects(sendAll(answering(error), [one!]), (thrown: Error) => {
        assert.match(thrown.message, /does not answer delete_loopback \{ sw_if_index: 7 \}/);
        return thrown.cause === error;
      });
  });
});
