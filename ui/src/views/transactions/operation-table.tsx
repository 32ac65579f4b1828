import { useLayoutEffect, useRef } from 'preact/hooks';
import type {
  TransactionDetail,
  TransactionOperation,
} from '#documents/scheduler/transaction-pages.ts';
import { Badge } from '../../components/badge.tsx';
import { countText, numberText } from '../../components/counts.ts';
import { stateWord } from '../../components/value-state.ts';
import { changeQuery, href, place } from '../../location.ts';
import { Marks } from './marks.tsx';
import { OperationDetail } from './operation-detail.tsx';
import { missedState, operationMarks } from './transaction-text.ts';

const COLUMNS = 6;

interface Props {
  readonly seqNum: number;
  readonly document: TransactionDetail;
  /** Number of the operations before the first one. */
  readonly from: number;
}

export function OperationTable({ seqNum, document, from }: Props) {
  const { Operations, Matching } = document;
  const opened = place.value.query.get('op');
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => {
    if (opened === null) return;
    const button = table.current?.querySelector<HTMLElement>(`[data-operation="${opened}"]`);
    button?.focus();
    button?.scrollIntoView({ block: 'center' });
  }, [opened]);
  if (Operations.length === 0) return <p class="quiet">No operation matches.</p>;
  const last = from + Operations.length;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled area has to be reachable by keyboard
    <section class="scroll" aria-label="Operations" tabIndex={0}>
      <table class="operations" ref={table}>
        <caption>
          <span role="status">
            {Matching > Operations.length
              ? `${numberText(from + 1)} to ${numberText(last)} of ${countText(Matching, 'operation')}`
              : countText(Matching, 'operation')}
            , those of the plan in its order, then those that were not planned
          </span>
        </caption>
        <thead>
          <tr>
            <th scope="col" class="number">
              Order
            </th>
            <th scope="col">Operation</th>
            <th scope="col">Key</th>
            <th scope="col">State</th>
            <th scope="col">Reason</th>
            <th scope="col">Values</th>
          </tr>
        </thead>
        <tbody>
          {Operations.map((operation) => (
            <OperationRows
              key={operation.Index}
              seqNum={seqNum}
              operation={operation}
              isOpen={String(operation.Index) === opened}
            />
          ))}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  readonly seqNum: number;
  readonly operation: TransactionOperation;
  readonly isOpen: boolean;
}

function OperationRows({ seqNum, operation, isOpen }: RowProps) {
  const { Index, ExecutedAt, Operation, Key, Reason, NewErrMsg } = operation;
  return (
    <>
      <tr class={isOpen ? 'selected' : ''}>
        <td class="number">{ExecutedAt === null ? '–' : ExecutedAt + 1}</td>
        <td>
          {Operation} <Marks marks={operationMarks(operation)} />
        </td>
        <th scope="row">
          <a href={href('values', { key: Key })}>{Key}</a>
          {NewErrMsg !== undefined && <div class="error">{NewErrMsg}</div>}
        </th>
        <td>
          <States operation={operation} />
        </td>
        <td class="reason">{Reason}</td>
        <td>
          <button
            type="button"
            aria-expanded={isOpen}
            data-operation={Index}
            onClick={() => changeQuery({ op: isOpen ? undefined : String(Index) })}
          >
            {isOpen ? 'Hide' : 'Show'}
            <span class="hidden"> values of operation {Index + 1}</span>
          </button>
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={COLUMNS}>
            <OperationDetail seqNum={seqNum} index={Index} />
          </td>
        </tr>
      )}
    </>
  );
}

function States({ operation }: { readonly operation: TransactionOperation }) {
  const { ExecutedAt, PrevState, NewState } = operation;
  const missed = missedState(operation);
  if (ExecutedAt === null)
    return (
      <span class="quiet">
        planned: {stateWord(PrevState)} → {stateWord(NewState)}
      </span>
    );
  const isBad = NewState === 'FAILED' || NewState === 'RETRYING' || NewState === 'INVALID';
  return (
    <>
      {stateWord(PrevState)} → {isBad ? <Badge tone="bad">{NewState}</Badge> : stateWord(NewState)}
      {missed !== undefined && <div class="quiet">planned: {missed}</div>}
    </>
  );
}
