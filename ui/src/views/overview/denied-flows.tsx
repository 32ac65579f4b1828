/** Connections that network policies have denied in the last minutes; nothing without any, or without the permission. */
import type { FlowsDocument } from '#documents/flows.ts';
import { agentNow } from '../../agent/agent-time.ts';
import { useDocument } from '../../agent/use-document.ts';
import { href } from '../../location.ts';
import { FlowTable } from '../flows/flow-table.tsx';

const REFRESH_MS = 5_000;
const RECENT_MINUTES = 10;
const MAX_FLOWS = 5;

export function DeniedFlows() {
  const { document } = useDocument<FlowsDocument>(
    `contiv/v1/flows?verdict=denied&last=${MAX_FLOWS}`,
    { everyMs: REFRESH_MS },
  );
  const since = agentNow() - RECENT_MINUTES * 60_000;
  const recent = (document?.flows ?? []).filter(
    ({ time, ended = time }) => Date.parse(ended) >= since,
  );
  if (recent.length === 0) return null;
  return (
    <section aria-labelledby="denied">
      <h2 id="denied">Denied in the last {RECENT_MINUTES} minutes</h2>
      <FlowTable flows={recent.toReversed()} />
      <p>
        <a href={href('flows', { verdict: 'denied' })}>All denied connections</a>
      </p>
    </section>
  );
}
