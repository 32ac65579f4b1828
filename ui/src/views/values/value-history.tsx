/** The kept revisions of a value. */
import type { NodeRevision } from '#documents/scheduler/timeline.ts';
import { useDocument } from '../../agent/use-document.ts';
import { ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { href } from '../../location.ts';
import { FieldChanges } from './field-changes.tsx';
import { type RevisionStep, stepsOf } from './revision-steps.ts';

const MAX_REVISIONS = 50;

export function ValueHistory({ valueKey }: { readonly valueKey: string }) {
  const path = `scheduler/key-timeline?key=${encodeURIComponent(valueKey)}&last=${MAX_REVISIONS}`;
  const revisions = useDocument<readonly NodeRevision[]>(path, { afterEvents: true });
  return (
    <section aria-labelledby="history">
      <h3 id="history">History</h3>
      <Loading of={revisions} what="the history">
        {(list) =>
          list.length === 0 ? (
            <p class="quiet">The agent remembers no value with this key.</p>
          ) : (
            <Steps steps={stepsOf(list, list.length === MAX_REVISIONS)} />
          )
        }
      </Loading>
    </section>
  );
}

function Steps({ steps }: { readonly steps: readonly RevisionStep[] }) {
  return (
    <table class="history">
      <caption>Newest first, as long as the agent keeps its history</caption>
      <thead>
        <tr>
          <th scope="col">Time (UTC)</th>
          <th scope="col">State</th>
          <th scope="col">Transaction</th>
          <th scope="col">Value</th>
          <th scope="col">Fields</th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={`${step.time} ${step.operation}`}>
            <td>
              <time dateTime={step.time}>{timeText(step.time)}</time>
            </td>
            <td>
              <ValueStateBadge state={step.state} />
            </td>
            <td>
              {step.transaction !== undefined && (
                <a href={href('transactions', { txn: step.transaction })}>{step.transaction}</a>
              )}
            </td>
            <td>{step.operation}</td>
            <td>
              {step.error !== undefined && <p class="error">{step.error}</p>}
              {step.operation === 'changed' && (
                <FieldChanges before={step.before} after={step.after} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function timeText(rfc3339: string): string {
  const date = new Date(rfc3339);
  return Number.isNaN(date.getTime()) ? rfc3339 : date.toISOString().slice(0, 19).replace('T', ' ');
}
