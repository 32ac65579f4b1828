/** Connections of this node, who talks to whom, and what was refused: `#/flows`, `#/flows?pod=namespace/name&verdict=denied`. */
import type { FlowsDocument, TalkingWorkloads } from '#documents/flows.ts';
import { useDocument } from '../../agent/use-document.ts';
import { useKeptDocument } from '../../agent/use-kept-document.ts';
import { countText } from '../../components/counts.ts';
import { Loading } from '../../components/loading.tsx';
import { QueryChoice, QueryText } from '../../components/query-fields.tsx';
import { place } from '../../location.ts';
import { FlowGraph } from './flow-graph.tsx';
import { FlowTable } from './flow-table.tsx';
import { PairTable } from './pair-table.tsx';

const REFRESH_MS = 5_000;
const MAX_FLOWS = 100;
const MAX_PAIRS = 100;
const ARGUMENTS = ['pod', 'from', 'to', 'protocol', 'verdict'] as const;

export function Flows() {
  const filter = ARGUMENTS.flatMap((name) => {
    const value = place.value.query.get(name) ?? '';
    return value === '' ? [] : [`&${name}=${encodeURIComponent(value)}`];
  }).join('');
  const list = useKeptDocument(
    useDocument<FlowsDocument>(`contiv/v1/flows?last=${MAX_FLOWS}${filter}`, {
      everyMs: REFRESH_MS,
    }),
  );
  const talking = useKeptDocument(
    useDocument<TalkingWorkloads>(`contiv/v1/flows/workloads?limit=${MAX_PAIRS}${filter}`, {
      everyMs: REFRESH_MS,
    }),
  );
  return (
    <>
      <div class="filters">
        <QueryText label="Client or server" name="pod" />
        <QueryText label="Client" name="from" />
        <QueryText label="Server or service" name="to" />
        <QueryChoice label="Protocol" name="protocol" all="TCP and UDP" choices={['TCP', 'UDP']} />
        <QueryChoice
          label="Verdict"
          name="verdict"
          all="any verdict"
          choices={['open', 'refused', ['no-answer', 'no answer'], 'denied']}
        />
      </div>
      <Loading of={list} what="flows" permission="flows">
        {({ state, flows }) => (
          <>
            <State state={state} shown={flows.length} />
            {talking.document !== undefined && talking.document.pairs.length > 0 && (
              <>
                <h2>Who talks to whom</h2>
                <FlowGraph pairs={talking.document.pairs} />
                <PairTable document={talking.document} />
              </>
            )}
            {flows.length > 0 && (
              <>
                <h2>Connections</h2>
                <FlowTable flows={flows.toReversed()} />
              </>
            )}
          </>
        )}
      </Loading>
    </>
  );
}

interface StateProps {
  readonly state: FlowsDocument['state'];
  readonly shown: number;
}

function State({ state, shown }: StateProps) {
  const { isRecording, notReadSince, records, lost, displaced, vppDenials } = state;
  if (!isRecording)
    return (
      <p class="problem" role="alert">
        Connections are not recorded: they are switched off, or the kernel cannot report them.
      </p>
    );
  return (
    <>
      {notReadSince !== undefined && (
        <p class="problem" role="alert">
          Connections are not read since {notReadSince}.
        </p>
      )}
      <p role="status">
        {shown === 0
          ? records === 0
            ? 'No connection was seen yet.'
            : `None of ${countText(records, 'connection')} in memory matches.`
          : `The newest ${shown} shown of ${countText(records, 'connection')} in memory.`}
        {lost > 0 && ` ${countText(lost, 'event')} lost.`}
        {displaced > 0 &&
          ` ${countText(displaced, 'conversation')} of UDP left the memory of the kernel for newer ones.`}
        {vppDenials &&
          vppDenials.packets > 0 &&
          ` VPP has denied ${countText(vppDenials.packets, 'packet')} since the agent started; ${vppDenials.sampled} of them were looked at.`}
      </p>
    </>
  );
}
