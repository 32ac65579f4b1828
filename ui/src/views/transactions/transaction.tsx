/** One transaction: what it was to do, its failures, and its operations. */
import type { TransactionDetail } from '#documents/scheduler/transaction-pages.ts';
import { recentEvents } from '../../agent/event-stream.ts';
import { useDocument } from '../../agent/use-document.ts';
import { countText, numberText } from '../../components/counts.ts';
import { Loading } from '../../components/loading.tsx';
import { QueryChoice, QueryText } from '../../components/query-fields.tsx';
import { durationText, timeOfDay } from '../../components/times.ts';
import { changeQuery, href, place } from '../../location.ts';
import { Marks } from './marks.tsx';
import { OperationTable } from './operation-table.tsx';
import { outcomeMarks, typeText } from './transaction-text.ts';

const PAGE = 200;
const MAX_FAILURES = 20;
/** Arguments of the place in the list. */
const resets = { from: undefined, op: undefined };
const differences = [
  ['failed', 'Failed'],
  ['different', 'Not as planned'],
] as const;

export function TransactionView({ seqNum }: { readonly seqNum: number }) {
  const { query } = place.value;
  const from = Number(query.get('from') ?? 0) || 0;
  const path = new URLSearchParams({ 'seq-num': String(seqNum), limit: String(PAGE) });
  if (from > 0) path.set('from', String(from));
  for (const name of ['key', 'operation'])
    if (query.get(name)) path.set(name, query.get(name) ?? '');
  const only = query.get('only');
  if (only === 'failed' || only === 'different') path.set(only, 'true');
  const loaded = useDocument<TransactionDetail>(`scheduler/transaction?${path}`);
  return (
    <>
      <p class="pages">
        <a href={href('transactions')}>All transactions</a>
        {seqNum > 0 && <a href={href('transactions', { txn: String(seqNum - 1) })}>Previous</a>}
        <a href={href('transactions', { txn: String(seqNum + 1) })}>Next</a>
      </p>
      <h2>Transaction #{seqNum}</h2>
      <Facts seqNum={seqNum} />
      <h3>Operations</h3>
      <div class="filters">
        <QueryText label="Key" name="key" resets={resets} />
        <QueryChoice
          label="Operation"
          name="operation"
          all="All operations"
          choices={['CREATE', 'UPDATE', 'DELETE']}
          resets={resets}
        />
        <QueryChoice
          label="Outcome"
          name="only"
          all="Any outcome"
          choices={differences}
          resets={resets}
        />
      </div>
      <Loading of={loaded} what="operations">
        {(document) => (
          <>
            <OperationTable seqNum={seqNum} document={document} from={from} />
            <Pages from={from} matching={document.Matching} />
          </>
        )}
      </Loading>
    </>
  );
}

function Pages({ from, matching }: { readonly from: number; readonly matching: number }) {
  if (matching <= PAGE) return null;
  // A button that is disabled would lose the focus.
  const button = (text: string, to: number, isPossible: boolean) => (
    <button
      type="button"
      aria-disabled={!isPossible}
      onClick={() => isPossible && changeQuery({ from: String(Math.max(0, to)), op: undefined })}
    >
      {text} {PAGE}
    </button>
  );
  return (
    <p class="pages">
      {button('Previous', from - PAGE, from > 0)}
      {button('Next', from + PAGE, from + PAGE < matching)}
    </p>
  );
}

/** Independent of the filters. */
function Facts({ seqNum }: { readonly seqNum: number }) {
  const loaded = useDocument<TransactionDetail>(
    `scheduler/transaction?seq-num=${seqNum}&failed=true&limit=${MAX_FAILURES}`,
  );
  const event = recentEvents.value.find(({ Trace }) => Trace.Transaction?.SeqNum === seqNum);
  return (
    <Loading of={loaded} what="the transaction">
      {(document) => (
        <>
          <dl class="facts">
            <dt>Outcome</dt>
            <dd>
              <Marks marks={outcomeMarks(document)} />
            </dd>
            <dt>Type</dt>
            <dd>
              {typeText(document)}
              {document.RetryForTxn !== null && (
                <>
                  {' '}
                  <a href={href('transactions', { txn: String(document.RetryForTxn) })}>
                    first attempt
                  </a>
                </>
              )}
            </dd>
            <dt>Started</dt>
            <dd>
              {timeOfDay(document.Start)} UTC <span class="quiet">({document.Start})</span>, took{' '}
              {durationText(document.TookMs)}
            </dd>
            {event && (
              <>
                <dt>Event</dt>
                <dd>
                  <a href={href('events', { event: String(event.SeqNum) })}>
                    #{event.SeqNum} {event.Name}
                  </a>
                </dd>
              </>
            )}
            <dt>Operations</dt>
            <dd>{countsText(document)}</dd>
          </dl>
          <Problems document={document} />
          {document.Description.includes('\n') && <pre>{document.Description}</pre>}
        </>
      )}
    </Loading>
  );
}

function countsText({
  Values,
  Planned,
  Executed,
  NotExecuted,
  NotPlanned,
  Omitted,
}: TransactionDetail) {
  const texts = [
    `${countText(Values, 'value')} to set`,
    `${numberText(Planned)} planned`,
    `${numberText(Executed)} executed`,
  ];
  if (NotExecuted > 0) texts.push(`${numberText(NotExecuted)} planned, but not executed`);
  if (NotPlanned > 0) texts.push(`${numberText(NotPlanned)} executed, but not planned`);
  if (Omitted > 0)
    texts.push(`${numberText(Omitted)} entries left out, to limit the size of the history`);
  return texts.join('; ');
}

/** What failed, before everything else. */
function Problems({ document }: { readonly document: TransactionDetail }) {
  const { SeqNum, Operations, Matching, RetrieveErrors, VerificationErrors } = document;
  const errors = [
    ...RetrieveErrors.map((text) => `Not read: ${text}`),
    ...VerificationErrors.map((text) => `Differs afterwards: ${text}`),
  ];
  if (Matching + errors.length === 0) return null;
  return (
    <section aria-labelledby="failures">
      <h3 id="failures">Failures</h3>
      <ul class="failures">
        {errors.slice(0, MAX_FAILURES).map((text) => (
          <li key={text} class="error">
            {text}
          </li>
        ))}
        {Operations.map(({ Index, Operation, Key, NewErrMsg }) => (
          <li key={Index}>
            <a
              href={href('transactions', {
                txn: String(SeqNum),
                from: Index < PAGE ? undefined : String(Index - (Index % PAGE)),
                op: String(Index),
              })}
            >
              {Operation} {Key}
            </a>
            <div class="error">{NewErrMsg}</div>
          </li>
        ))}
      </ul>
      {Matching > Operations.length && (
        <p>
          <a href={href('transactions', { txn: String(SeqNum), only: 'failed' })}>
            All {numberText(Matching)} failed operations
          </a>
        </p>
      )}
    </section>
  );
}
