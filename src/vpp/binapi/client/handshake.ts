import { VppDisconnectedError, VppTimeoutError } from '../api.ts';
import type { Catalog } from '../catalog.ts';
import type { Reader } from '../codec/runtime.ts';
import { HANDSHAKE_ID, HANDSHAKE_REPLY_ID } from '../handshake-ids.ts';
import { MessageIds } from './message-ids.ts';
import type { MessageStream } from './message-stream.ts';
import type { ClientOptions } from './options.ts';

export interface HandshakeResult {
  /** Part of the header of every request. */
  readonly clientIndex: number;
  readonly messageIds: MessageIds;
}

interface HandshakeReply {
  readonly response: number;
  readonly index: number;
  readonly message_table: readonly { readonly index: number; readonly name: string }[];
}

/**
 * Registers this client with VPP and receives the message table. Closes the stream on failure.
 * @throws VppDisconnectedError when VPP closes the connection or refuses the client; VppTimeoutError
 *   when it does not answer in time; the signal's reason when the signal is aborted
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
    answer.reject(
      new VppDisconnectedError('VPP closed the connection during the handshake', { cause }),
    );
  const timer = clock.timer(handshakeTimeoutMs, () => {
    const text = `VPP did not answer the handshake within ${handshakeTimeoutMs} ms`;
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
    throw new VppDisconnectedError(`VPP refused the client with response ${reply.response}`);
  return {
    clientIndex: reply.index,
    messageIds: new MessageIds(catalog, reply.message_table),
  };
}
