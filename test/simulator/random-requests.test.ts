/** How sendAll handles a VPP that crashes or does not answer. */
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

  test('that crashes: the result contains the answers before the crash', async () => {
    const end = new VppDisconnectedError('the connection to VPP was lost');
    const answers = await sendAll(answering(end), [one!, one!]);
    assert.deepEqual(answers, []);
  });

  test('that does not answer: the error names the message', async () => {
    for (const error of [silence, new VppDisconnectedError('VPP disconnected', { cause: silence })])
      await assert.rejects(sendAll(answering(error), [one!]), (thrown: Error) => {
        assert.match(thrown.message, /does not answer delete_loopback \{ sw_if_index: 7 \}/);
        return thrown.cause === error;
      });
  });
});
