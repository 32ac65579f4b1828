/** Random messages, played to a VPP. */
import { inspect } from 'node:util';
import fc from 'fast-check';
import { ErrVppGone, type VppClient } from '#southbound/vpp/binapi/api.ts';
import type { Requests } from '#southbound/vpp/binapi/messages.gen.ts';
import { ErrVppRefused } from '#southbound/vpp/binapi/refused.ts';
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

/** Makes messages of one name; each field is a choice of values. */
export function message<N extends keyof Requests>(
  weight: number,
  name: N,
  fields: fc.Arbitrary<Requests[N]['request']>,
): fc.WeightedArbitrary<Message> {
  return {
    weight,
    arbitrary: fields.map((values) => ({
      name,
      fields: values,
      [fc.toStringMethod]: () => textOf(name, values),
    })),
  };
}

/** The answers, one by one; fewer than messages when VPP ended itself. */
export async function play(client: VppClient, messages: readonly Message[]): Promise<string[]> {
  const answers: string[] = [];
  for (const { name, fields } of messages) {
    const call = client.request(name, fields as never) as Promise<object>;
    const answer = await call.then(
      (reply) => ('sw_if_index' in reply ? `index ${reply.sw_if_index}` : 'done'),
      (error) => {
        if (error instanceof ErrVppRefused) return error.retval;
        return error instanceof ErrVppGone ? undefined : String(error);
      },
    );
    if (answer === undefined) break;
    answers.push(`${textOf(name, fields)}: ${answer}`);
  }
  return answers;
}
