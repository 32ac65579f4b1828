import { Badge } from '../../components/badge.tsx';
import { durationText, timeOfDay } from '../../components/times.ts';
import { failureOf, isReverted } from './event-failure.ts';
import { subjectOf } from './event-kind.ts';
import type { EventRow } from './event-rows.ts';
import { processedMs, timingOf } from './event-timing.ts';
import { CompactBar } from './timing-chart.tsx';

interface Props {
  readonly rows: readonly EventRow[];
  readonly caption: string;
  readonly selected: number | undefined;
  /** Address of an event. */
  addressOf(seqNum: number): string;
  /** An event is going to be opened. */
  onOpen(): void;
}

export function EventList({ rows, caption, selected, addressOf, onOpen }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled area has to be reachable by keyboard
    <section class="event-list" aria-label="List of events" tabIndex={0}>
      <table>
        <caption>
          <span role="status">{caption}</span>
        </caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              No.
            </th>
            <th scope="col" class="time">
              Time (UTC)
            </th>
            <th scope="col">Event</th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col" class="where">
              Time by step
            </th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ event, depth }) => {
            const { SeqNum, Name, ProcessingStart, IsFollowUp, FollowUpTo } = event;
            return (
              <tr key={SeqNum} class={SeqNum === selected ? 'selected' : ''}>
                <td class="number">{SeqNum}</td>
                <td class="time">{timeOfDay(ProcessingStart)}</td>
                <th scope="row" style={{ paddingInlineStart: `${Math.min(depth, 5) * 1.25}rem` }}>
                  {IsFollowUp && <span aria-hidden="true">↳ </span>}
                  <a
                    href={addressOf(SeqNum)}
                    data-event={SeqNum}
                    aria-current={SeqNum === selected ? 'true' : undefined}
                    onClick={onOpen}
                  >
                    {Name}
                  </a>
                  {IsFollowUp && <span class="quiet"> follow-up of #{FollowUpTo}</span>}
                  {subjectOf(event) !== '' && <div class="quiet subject">{subjectOf(event)}</div>}
                </th>
                <td class="number">{durationText(processedMs(event))}</td>
                <td class="where">
                  <CompactBar timing={timingOf(event)} />
                </td>
                <td class="outcome">
                  <Outcome failure={failureOf(event)} isUndone={isReverted(event)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

export function Outcome({
  failure,
  isUndone,
}: {
  readonly failure: string;
  readonly isUndone: boolean;
}) {
  if (failure === '') return <Badge tone="good">ok</Badge>;
  return (
    <>
      <Badge tone="bad">{isUndone ? 'failed, undone' : 'failed'}</Badge>{' '}
      <span class="reason">{failure}</span>
    </>
  );
}
