/** The values of one operation, before and after. */
import type {
  TransactionDetail,
  TransactionOperation,
} from '#documents/scheduler/transaction-pages.ts';
import { useDocument } from '../../agent/use-document.ts';
import { countText } from '../../components/counts.ts';
import { Loading } from '../../components/loading.tsx';
import { diffOf, type FieldChange } from '../../components/value-diff.ts';

const MAX_CHANGES = 200;

interface Props {
  readonly seqNum: number;
  readonly index: number;
}

export function OperationDetail({ seqNum, index }: Props) {
  const loaded = useDocument<TransactionDetail>(
    `scheduler/transaction?seq-num=${seqNum}&from=${index}&limit=1&values=true`,
  );
  return (
    <Loading of={loaded} what="values">
      {({ Operations: [operation] }) =>
        operation ? <Diff operation={operation} /> : <p>The operation is not recorded any more.</p>
      }
    </Loading>
  );
}

function Diff({ operation }: { readonly operation: TransactionOperation }) {
  const { PrevValue, NewValue, PrevErrMsg } = operation;
  const { changes, equal } = diffOf(PrevValue?.ProtoMsgData, NewValue?.ProtoMsgData);
  const isEmpty = changes.every(({ path }) => path === '');
  // A derived property has no type.
  const type = (NewValue ?? PrevValue)?.ProtoMsgName || 'Property';
  return (
    <div class="diff">
      {PrevErrMsg !== undefined && <p class="error">Error before: {PrevErrMsg}</p>}
      {isEmpty ? (
        <p class="quiet">
          {type}: {equal === 0 ? 'the value has no fields.' : 'no field differs.'}
        </p>
      ) : (
        <table>
          <caption>
            {type}: {countText(changes.length, 'difference')}, {countText(equal, 'equal field')}
            {changes.length > MAX_CHANGES && `; the first ${MAX_CHANGES} shown`}
          </caption>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Change</th>
              <th scope="col">Before</th>
              <th scope="col">After</th>
            </tr>
          </thead>
          <tbody>
            {changes.slice(0, MAX_CHANGES).map((change) => (
              <ChangeRow key={`${change.kind} ${change.path}`} change={change} />
            ))}
          </tbody>
        </table>
      )}
    </div>
  );
}

function ChangeRow({ change: { path, kind, before, after } }: { readonly change: FieldChange }) {
  return (
    <tr class={kind}>
      <th scope="row">
        <code>{path === '' ? '(value)' : path}</code>
      </th>
      <td>{kind}</td>
      <td class="before">{before === undefined ? '' : <code>{before}</code>}</td>
      <td class="after">{after === undefined ? '' : <code>{after}</code>}</td>
    </tr>
  );
}
