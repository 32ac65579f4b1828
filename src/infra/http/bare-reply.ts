/** Replies, in the form of all errors, to what is no request that a route could get. */
import { maxHeaderSize, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError } from 'fastify';
import { failure } from './route.ts';

/** The last reply of a connection. */
export function bareReply(status: number, text: string): string {
  const body = `${JSON.stringify(failure(status, text).body, undefined, 2)}\n`;
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/** For bytes that are no request of HTTP, a head that is too large, and one that takes too long. */
export function refuseBytes(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  if (socket.writable) socket.write(replyTo(error));
  socket.destroy(error);
}

function replyTo({ code, message }: ConnectionError): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return bareReply(408, 'the request took too long');
  if (code === 'HPE_HEADER_OVERFLOW')
    return bareReply(431, `the head of the request has more than ${maxHeaderSize} bytes`);
  return bareReply(400, `the request is not valid HTTP: ${message}`);
}
