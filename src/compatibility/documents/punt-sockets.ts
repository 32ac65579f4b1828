/** `/dump/vpp/v2/punt/sockets`. */
import type { Route } from '#infra/http/route.ts';
import { type PuntToHost, puntToHostModel } from '#models/vpp/punt-to-host.ts';
import { type DocumentDeps, documentRoute, listOf } from '../document.ts';
import { structJsonOf } from '../message-json.ts';

export function puntSocketDocuments({ southbound, clock }: DocumentDeps): Route[] {
  return [
    documentRoute(
      '/dump/vpp/v2/punt/sockets',
      'sockets that receive packets for the host',
      clock,
      async () => {
        const found = await southbound.read<PuntToHost>('vpp-punt-to-host');
        return listOf(clock, found, ({ value }) => ({
          PuntData: structJsonOf(puntToHostModel, value),
          SocketPath: value.socket_path,
        }));
      },
    ),
  ];
}
