import type { TransactionList } from '#documents/scheduler/transaction-pages.ts';
import { useDocument } from '../../agent/use-document.ts';
import { countText, numberText } from '../../components/counts.ts';
import { Loading } from '../../components/loading.tsx';
import { QuerySwitch, QueryText } from '../../components/query-fields.tsx';
import { durationText, timeOfDay } from '../../components/times.ts';
import { href, place } from '../../location.ts';
import { Marks } from './marks.tsx';
import { outcomeMarks, typeText } from './transaction-text.ts';

/** Retries and notifications are in no event. */
const REFRESH_MS = 5_000;
const PAGE = 100;

/** Arguments of the place in the list. */
const resets = { before: undefined };

export function TransactionListView() {
  const { query } = place.value;
  const before = query.get('before') ?? '';
  const path = new URLSearchParams({ last: String(PAGE) });
  for (const name of ['before', 'key', 'text', 'failed'])
    if (query.get(name)) path.set(name, query.get(name) ?? '');
  const refresh = before === '' ? { everyMs: REFRESH_MS, afterEvents: true } : {};
  const loaded = useDocument<TransactionList>(`scheduler/transactions?${path}`, refresh);
  return (
    <>
      <div class="filters">
        <QueryText label="Description" name="text" resets={resets} />
        <QueryText label="Key of an operation" name="key" resets={resets} />
        <QuerySwitch label="Failed only" name="failed" resets={resets} />
      </div>
      <Loading of={loaded} what="transactions">
        {(document) => <TransactionTable document={document} />}
      </Loading>
    </>
  );
}

function TransactionTable({ document }: { readonly document: TransactionList }) {
  const { Transactions, Before } = document;
  const filters = Object.fromEntries(place.value.query);
  if (Transactions.length === 0)
    return <p class="quiet">No transaction that is still recorded matches.</p>;
  return (
    <>
      <table class="transactions">
        <caption>
          <span role="status">
            {countText(Transactions.length, 'transaction')}, the newest first
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              No.
            </th>
            <th scope="col">Start (UTC)</th>
            <th scope="col" class="number">
              Duration
            </th>
            <th scope="col">Type</th>
            <th scope="col">Description</th>
            <th scope="col" class="number">
              Planned
            </th>
            <th scope="col" class="number">
              Executed
            </th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {Transactions.map((transaction) => {
            const { SeqNum, Start, TookMs, Description, Planned, Executed } = transaction;
            const [headline = '', ...more] = Description.split('\n');
            return (
              <tr key={SeqNum}>
                <th scope="row" class="number">
                  <a href={href('transactions', { txn: String(SeqNum) })}>{SeqNum}</a>
                </th>
                <td class="time">{timeOfDay(Start)}</td>
                <td class="number">{durationText(TookMs)}</td>
                <td>{typeText(transaction)}</td>
                <td class="description">
                  {headline}
                  <div class="quiet one-line">{more.join(' ').replaceAll('* ', '')}</div>
                </td>
                <td class="number">{numberText(Planned)}</td>
                <td class="number">{numberText(Executed)}</td>
                <td>
                  <Marks marks={outcomeMarks(transaction)} />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="pages">
        {filters['before'] !== undefined && (
          <a href={href('transactions', { ...filters, before: undefined })}>Newest</a>
        )}{' '}
        {Before !== null && (
          <a href={href('transactions', { ...filters, before: String(Before) })}>Older</a>
        )}
      </p>
    </>
  );
}
