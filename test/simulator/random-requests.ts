/** Random requests, sent to a VPP. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { type VppClient, VppDisconnectedError, VppTimeoutError } from '#vpp/binapi/api.ts';
import type { Requests } from '#vpp/binapi/messages.gen.ts';
import { VppRefusedError } from '#vpp/binapi/retval-error.ts';
import { plain } from './vpp-state.ts';

export interface Message {
  [fc.toStringMethod](): string;
  readonly name: keyof Requests;
  readonly fields: object;
}

function textOf(name: string, fields: object): string {
  const options = { depth: 9, breakLength: Number.POSITIVE_INFINITY, compact: true };
  return `${name} ${inspect(plain(fields), options)}`;
}

/** Makes messages of one name. */
export interface MessageGenerator extends fc.WeightedArbitrary<Message> {
  readonly name: keyof Requests;
}

/** @param fields each is a choice of values */
export function message<N extends keyof Requests>(
  weight: number,
  name: N,
  fields: fc.Arbitrary<Requests[N]['request']>,
): MessageGenerator {
  return {
    name,
    weight,
    arbitrary: fields.map((values) => oneMessage(name, values)),
  };
}

export function oneMessage<N extends keyof Requests>(
  name: N,
  fields: Requests[N]['request'],
): Message {
  return { name, fields, [fc.toStringMethod]: () => textOf(name, fields) };
}

/** Whether VPP crashed, as opposed to not answering. */
export function hasEnded(error: unknown): boolean {
  return error instanceof VppDisconnectedError && !(error.cause instanceof VppTimeoutError);
}

/**
 * Sends messages one by one. @returns the answers; fewer than messages if VPP crashed
 * @throws Error that names the message that VPP did not answer
 */
export async function sendAll(client: VppClient, messages: readonly Message[]): Promise<string[]> {
  const answers: string[] = [];
  for (const { name, fields } of messages) {
    const text = textOf(name, fields);
    try {
      const reply: object = await client.request(name, fields as never);
      answers.push(`${text}: ${'sw_if_index' in reply ? `index ${reply.sw_if_index}` : 'done'}`);
    } catch (error) {
      if (hasEnded(error)) break;
      if (error instanceof VppDisconnectedError || error instanceof VppTimeoutError)
        throw new Error(`VPP does not answer ${text}`, { cause: error });
      answers.push(`${text}: ${error instanceof VppRefusedError ? error.retval : String(error)}`);
    }
  }
  return answers;
}
