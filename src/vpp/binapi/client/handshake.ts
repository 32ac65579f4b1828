import { VppDisconnectedError, VppTimeoutError } from '../api.ts';
import type { Catalog } from '../catalog.ts';
import type { Reader } from '../codec/runtime.ts';
import { HANDSHAKE_ID, HANDSHAKE_REPLY_ID } from '../handshake-ids.ts';
import { MessageIds } from './message-ids.ts';
import type { MessageStream } from './message-stream.ts';
import type { ClientOptions } from './options.ts';

export interface HandshakeResult {
  /** Copied into every request. */
  readonly clientIndex: number;
  readonly messageIds: MessageIds;
}

interface HandshakeReply {
  readonly response: number;
  readonly index: number;
  readonly message_table: readonly { readonly index: number; readonly name: string }[];
}

/**
 * Says who we are and gets the message table. The wire is closed when this rejects.
 * @throws VppDisconnectedError when VPP hangs up or refuses, VppTimeoutError when it does not answer in time;
 *   the signal's reason when that is aborted
 */
export async function performHandshake(
  wire: MessageStream,
  catalog: Catalog,
  { name, clock, handshakeTimeoutMs }: ClientOptions,
  signal: AbortSignal,
): Promise<HandshakeResult> {
  const answer = Promise.withResolvers<HandshakeResult>();
  wire.onMessage = (reader) => {
    if (reader.view.getUint16(reader.position) !== HANDSHAKE_REPLY_ID) return;
    try {
      answer.resolve(handshakeResult(reader, catalog));
    } catch (error) {
      answer.reject(error);
    }
  };
  wire.onLost = (cause) =>
    answer.reject(new VppDisconnectedError('VPP hung up at the greeting', { cause }));
  const timer = clock.timer(handshakeTimeoutMs, () => {
    const text = `VPP did not answer the greeting within ${handshakeTimeoutMs} ms`;
    void wire.drained().then(() => answer.reject(new VppTimeoutError(text)));
  });
  const abort = () => answer.reject(signal.reason);
  signal.addEventListener('abort', abort);
  try {
    signal.throwIfAborted();
    wire.append(catalog.codec('sockclnt_create'), { name }, HANDSHAKE_ID, 0, 0);
    return await answer.promise;
  } catch (error) {
    wire.close();
    throw error;
  } finally {
    timer.cancel();
    signal.removeEventListener('abort', abort);
  }
}

function handshakeResult(reader: Reader, catalog: Catalog): HandshakeResult {
  const reply = catalog.codec('sockclnt_create_reply').decode(reader) as HandshakeReply;
  if (reply.response !== 0)
    throw new VppDisconnectedError(`VPP refuses clients with ${reply.response}`);
  return {
    clientIndex: reply.index,
    messageIds: new MessageIds(catalog, reply.message_table),
  };
}
