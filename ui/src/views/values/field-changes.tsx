/** Fields in which two values differ. */
import { diffOf, type FieldChange } from '../../components/value-diff.ts';

const MAX_CHANGES = 50;

interface Props {
  /** null: there was no value; likewise `after`. */
  readonly before: unknown;
  readonly after: unknown;
}

export function FieldChanges({ before, after }: Props) {
  const { changes } = diffOf(before, after);
  if (changes.length === 0) return <span class="quiet">no field differs</span>;
  return (
    <ul class="plain field-changes">
      {changes.slice(0, MAX_CHANGES).map((change) => (
        <li key={`${change.kind} ${change.path}`}>
          <Change change={change} />
        </li>
      ))}
      {changes.length > MAX_CHANGES && (
        <li class="quiet">and {changes.length - MAX_CHANGES} other fields</li>
      )}
    </ul>
  );
}

function Change({ change: { path, kind, before, after } }: { readonly change: FieldChange }) {
  return (
    <>
      {kind} <strong>{path === '' ? 'value' : path}</strong>{' '}
      {before !== undefined && (
        <del>
          <code>{before}</code>
        </del>
      )}{' '}
      {after !== undefined && (
        <ins>
          <code>{after}</code>
        </ins>
      )}
    </>
  );
}
