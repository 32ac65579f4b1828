import type { TalkingPair, TalkingWorkloads } from '#documents/flows.ts';
import { documentAddress } from '../../agent/request.ts';
import { numberText } from '../../components/counts.ts';
import { hostAndPort } from '../../components/host-and-port.ts';
import { timeOfDay } from '../../components/times.ts';
import { href } from '../../location.ts';
import { bytesText } from './bytes-text.ts';
import { protocolText } from './end-text.ts';

export function PairTable({ document: { pairs, total } }: { readonly document: TalkingWorkloads }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label="Table of workloads that talk">
      <table class="pairs">
        <caption>
          Workloads that talk, those with most connections first
          {total > pairs.length && `: ${pairs.length} of ${numberText(total)}`}.{' '}
          <a href={documentAddress('contiv/v1/flows/workloads')}>REST</a>
        </caption>
        <thead>
          <tr>
            <th scope="col">Client</th>
            <th scope="col">Server</th>
            <th scope="col" class="number">
              Connections
            </th>
            <th scope="col" class="number">
              Denied
            </th>
            <th scope="col" class="number">
              Refused
            </th>
            <th scope="col" class="number">
              No answer
            </th>
            <th scope="col" class="number">
              Sent
            </th>
            <th scope="col" class="number">
              Received
            </th>
            <th scope="col">Last (UTC)</th>
          </tr>
        </thead>
        <tbody>
          {pairs.map((pair) => (
            <Row key={`${pair.client} ${pair.server} ${pair.protocol} ${pair.port}`} pair={pair} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ pair }: { readonly pair: TalkingPair }) {
  const { client, server, port, connections, denied, refused, noAnswer } = pair;
  return (
    <tr>
      <td>
        <a href={href('flows', { from: client })}>{client}</a>
      </td>
      <td>
        <a href={href('flows', { to: server })}>
          {port === undefined ? server : hostAndPort(server, port)}
          {protocolText(pair)}
        </a>
      </td>
      <td class="number">{numberText(connections)}</td>
      <td class={denied > 0 ? 'number fault' : 'number'}>{denied > 0 && numberText(denied)}</td>
      <td class="number">{refused > 0 && numberText(refused)}</td>
      <td class="number">{noAnswer > 0 && numberText(noAnswer)}</td>
      <td class="number">{bytesText(pair.clientBytes)}</td>
      <td class="number">{bytesText(pair.serverBytes)}</td>
      <td title={pair.lastChange}>{timeOfDay(pair.lastChange)}</td>
    </tr>
  );
}
