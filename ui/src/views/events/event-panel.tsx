/** One event: cause, times, handlers, transaction, and the events around it. */

import { useRef } from 'preact/hooks';
import type { ProcessedEvent } from '#documents/events.ts';
import type { TransactionDetail } from '#documents/scheduler/transaction-pages.ts';
import { agentRun } from '../../agent/event-stream.ts';
import { useDocument } from '../../agent/use-document.ts';
import { countText } from '../../components/counts.ts';
import { Loading } from '../../components/loading.tsx';
import { durationText, timeOfDay } from '../../components/times.ts';
import { href } from '../../location.ts';
import { failureOf, isReverted } from './event-failure.ts';
import { Outcome } from './event-list.tsx';
import { timingOf } from './event-timing.ts';
import { Legend, TimingChart } from './timing-chart.tsx';

/** Of a transaction; its view has all. */
const MAX_FAILURES = 10;

interface Props {
  readonly seqNum: number;
  /** Those that the page has. */
  readonly events: readonly ProcessedEvent[];
  addressOf(seqNum: number): string;
  onClose(): void;
}

export function EventPanel({ seqNum, events, addressOf, onClose }: Props) {
  const kept = useRef<{ readonly run: number; readonly event: ProcessedEvent }>(undefined);
  const run = agentRun.value;
  const found = events.find(({ SeqNum }) => SeqNum === seqNum);
  if (found) kept.current = { run, event: found };
  // The page forgets old events, also while one of them is open. Of another run it is another event.
  const known = kept.current?.run === run ? kept.current.event : undefined;
  const loaded = useDocument<ProcessedEvent>(
    known ? undefined : `controller/event-history?seq-num=${seqNum}&txn=false`,
  );
  const event = known ?? loaded.document;
  const followUps = events.filter(
    ({ IsFollowUp, FollowUpTo }) => IsFollowUp && FollowUpTo === seqNum,
  );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled area has to be reachable by keyboard
    <section class="event-panel" aria-labelledby="event-heading" tabIndex={0}>
      <div class="panel-head">
        <h2 id="event-heading">
          #{seqNum} {event?.Name}
        </h2>
        <button type="button" onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </div>
      <Loading of={known ? { ...loaded, document: known } : loaded} what="the event">
        {(shown) => <EventFacts event={shown} followUps={followUps} addressOf={addressOf} />}
      </Loading>
    </section>
  );
}

interface FactsProps {
  readonly event: ProcessedEvent;
  readonly followUps: readonly ProcessedEvent[];
  addressOf(seqNum: number): string;
}

function EventFacts({ event, followUps, addressOf }: FactsProps) {
  const { Description, ProcessingStart, IsFollowUp, FollowUpTo, Trace } = event;
  const timing = timingOf(event);
  return (
    <>
      <dl class="facts">
        <dt>Outcome</dt>
        <dd>
          <Outcome failure={failureOf(event)} isUndone={isReverted(event)} />
        </dd>
        <dt>Processed</dt>
        <dd>
          {timeOfDay(ProcessingStart)} UTC <span class="quiet">({ProcessingStart})</span>
        </dd>
        <Cause event={event} />
        {IsFollowUp && (
          <>
            <dt>Follow-up of</dt>
            <dd>
              <a href={addressOf(FollowUpTo)}>#{FollowUpTo}</a>
            </dd>
          </>
        )}
        {followUps.length > 0 && (
          <>
            <dt>Follow-ups</dt>
            <dd>
              {followUps.map(({ SeqNum, Name }) => (
                <div key={SeqNum}>
                  <a href={addressOf(SeqNum)}>
                    #{SeqNum} {Name}
                  </a>
                </div>
              ))}
            </dd>
          </>
        )}
      </dl>
      <h3>Time</h3>
      <TimingChart timing={timing} from={startText(event)} />
      <Legend hasMark={timing.acknowledgedMs !== undefined} />
      <HandlerTable event={event} />
      {typeof Trace.Transaction?.SeqNum === 'number' && (
        <Transaction event={event} seqNum={Trace.Transaction.SeqNum} />
      )}
      {!Trace.Transaction && (
        <p class="quiet">
          {event.TxnErrorStr === ''
            ? 'Nothing was committed.'
            : `The transaction was not executed: ${event.TxnErrorStr}`}
        </p>
      )}
      {Description !== event.Name && (
        <>
          <h3>Description</h3>
          <pre>{Description}</pre>
        </>
      )}
    </>
  );
}

function startText({ IsFollowUp, Trace }: ProcessedEvent): string {
  if (Trace.Origin?.Heard === undefined) return 'the push into the queue';
  if (IsFollowUp) return 'when the agent received the cause';
  return 'when the agent received the change';
}

function Cause({ event: { Trace } }: { readonly event: ProcessedEvent }) {
  const { Key, Revision, Container, Heard } = Trace.Origin ?? {};
  if (!Trace.Origin) return null;
  return (
    <>
      <dt>Cause</dt>
      <dd>
        {Key !== undefined && (
          <>
            etcd key <code>{Key}</code>
            {Revision !== undefined && `, revision ${Revision}`}
          </>
        )}
        {Container !== undefined && (
          <>
            CNI container <code>{Container}</code>
          </>
        )}
        {Heard !== undefined && `, received ${timeOfDay(Heard)} UTC`}
      </dd>
    </>
  );
}

function HandlerTable({ event: { Handlers } }: { readonly event: ProcessedEvent }) {
  if (Handlers.length === 0) return <p class="quiet">No handler was called.</p>;
  return (
    <>
      <h3>Handlers</h3>
      <table>
        <caption>In the order of their calls</caption>
        <thead>
          <tr>
            <th scope="col">Handler</th>
            <th scope="col">Change or error</th>
            <th scope="col" class="number">
              Duration
            </th>
          </tr>
        </thead>
        <tbody>
          {Handlers.map(({ Handler, Revert, Change, ErrorStr, TookMs }, at) => (
            <tr key={at}>
              <th scope="row">
                {Handler}
                {Revert && <span class="quiet"> (revert)</span>}
              </th>
              <td class="text">
                {Change}
                {ErrorStr !== '' && <div class="error">Error: {ErrorStr}</div>}
              </td>
              <td class="number">{durationText(TookMs)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

function Transaction({
  event,
  seqNum,
}: {
  readonly event: ProcessedEvent;
  readonly seqNum: number;
}) {
  const failures = useDocument<TransactionDetail>(
    `scheduler/transaction?seq-num=${seqNum}&failed=true&limit=${MAX_FAILURES}`,
  );
  const txn = String(seqNum);
  const { Operations = 0 } = event.Trace.Transaction ?? {};
  return (
    <>
      <h3>Transaction</h3>
      <p>
        <a href={href('transactions', { txn })}>Transaction #{txn}</a>:{' '}
        {countText(Operations, 'operation')}
      </p>
      {event.TxnErrorStr !== '' && (
        <Loading of={failures} what="the transaction">
          {({ Matching, Operations: failed }) => (
            <>
              <p class="quiet">
                {Matching} failed
                {Matching > failed.length && `, the first ${failed.length}`}:
              </p>
              <ul class="failures">
                {failed.map(({ Index, Operation, Key, NewErrMsg }) => (
                  <li key={Index}>
                    {Operation} <a href={href('values', { key: Key })}>{Key}</a>
                    <div class="error">{NewErrMsg}</div>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Loading>
      )}
    </>
  );
}
