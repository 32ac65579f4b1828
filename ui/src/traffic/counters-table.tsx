/** All counters of an interface. */
import type { Counters, Side } from './traffic-history.ts';
import { countText } from './traffic-text.ts';

interface Props {
  readonly counters: Counters;
  readonly side: Side;
  readonly caption: string;
}

export function CountersTable({ counters, side, caption }: Props) {
  const [inward, outward] = side === 'vpp' ? (['rx', 'tx'] as const) : (['tx', 'rx'] as const);
  const rows: readonly (readonly [string, number])[] = [
    ['in, packets', counters[`${inward}Packets`]],
    ['in, bytes', counters[`${inward}Bytes`]],
    ['out, packets', counters[`${outward}Packets`]],
    ['out, bytes', counters[`${outward}Bytes`]],
    ['dropped by VPP', counters.drops],
    ['passed to the host (punted)', counters.punts],
    ['errors when VPP received', counters.rxErrors],
    ['errors when VPP sent', counters.txErrors],
    ['received without a free buffer', counters.rxNoBuffer],
    ['received too late', counters.rxMiss],
  ];
  return (
    <table class="counters">
      <caption>{caption}</caption>
      <thead>
        <tr>
          <th scope="col">Counter</th>
          <th scope="col" class="number">
            Since the interface exists
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, count]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td class="number">{countText(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
