import type { Flow } from '#documents/flows.ts';
import { documentAddress } from '../../agent/request.ts';
import { countText } from '../../components/counts.ts';
import { durationText, timeOfDay } from '../../components/times.ts';
import { bytesText } from './bytes-text.ts';
import { endText, protocolText, serviceText } from './end-text.ts';
import { Verdict } from './verdict.tsx';

/** @param flows newest first */
export function FlowTable({ flows }: { readonly flows: readonly Flow[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label="Table of connections">
      <table class="flows">
        <caption>
          Connections of sockets of this node, and those that its VPP has denied, the last change
          first. <a href={documentAddress('contiv/v1/flows')}>REST</a>
        </caption>
        <thead>
          <tr>
            <th scope="col">Time (UTC)</th>
            <th scope="col">Client</th>
            <th scope="col">Server</th>
            <th scope="col">Verdict</th>
            <th scope="col" class="number">
              Sent
            </th>
            <th scope="col" class="number">
              Received
            </th>
            <th scope="col" class="number">
              Round trip
            </th>
          </tr>
        </thead>
        <tbody>
          {flows.map((flow) => (
            <Row key={flow.id} flow={flow} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ flow }: { readonly flow: Flow }) {
  const { time, client, server, reason, clientBytes, serverBytes, rttUs, isSimulated, seenBy } =
    flow;
  const { sockets = 0 } = flow.datagrams ?? {};
  const service = serviceText(flow);
  return (
    <tr>
      <td title={time}>{timeOfDay(time)}</td>
      <td>{endText(client, false)}</td>
      <td>
        {endText(server, true)}
        {protocolText(flow)}
        {sockets > 1 && <div class="quiet">{countText(sockets, 'socket')}</div>}
        {service !== '' && <div class="quiet">by {service}</div>}
      </td>
      <td>
        <Verdict flow={flow} /> {seenBy !== undefined && <span class="quiet">by VPP</span>}{' '}
        {isSimulated && <span class="quiet">simulated</span>}
        {reason !== '' && <div class="quiet">{reason}</div>}
      </td>
      <td class="number">{bytesText(clientBytes)}</td>
      <td class="number">{bytesText(serverBytes)}</td>
      <td class="number">{rttUs > 0 && durationText(rttUs / 1_000)}</td>
    </tr>
  );
}
