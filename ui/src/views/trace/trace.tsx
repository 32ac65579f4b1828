/** The way of a packet between two ends, hop by hop, with the value that decided at each; and that of its reply. */
import type { Allocations } from '#documents/ipam.ts';
import type { OneWay, PairTrace, TracedPath } from '#documents/pair-trace.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Badge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import type { Tone } from '../../components/tone.ts';
import { href, place } from '../../location.ts';
import { deviceName, hopGroups, podsOfDevices, shareText, shortened } from './hop-groups.ts';

export function Trace() {
  const { query } = place.value;
  const asked = new URLSearchParams();
  for (const [name, argument] of [
    ['from', 'from'],
    ['to', 'to'],
    ['port', 'to-port'],
    ['from-port', 'from-port'],
    ['view', 'view'],
  ] as const) {
    const value = query.get(name);
    if (value) asked.set(argument, value);
  }
  const isComplete = asked.has('from') && asked.has('to');
  const loaded = useDocument<PairTrace>(isComplete ? `trace/pair?${asked}` : undefined);
  return (
    <>
      <p class="quiet">
        Follows a new connection from a pod of this node through Linux and VPP, and its reply back.
        No packet is sent: the agent computes the way from the state of the node.
      </p>
      <TraceForm />
      {isComplete && (
        <Loading of={loaded} what="the trace">
          {(document) => <Result document={document} />}
        </Loading>
      )}
    </>
  );
}

/** Names that the browser offers. */
const MAX_OFFERED = 200;

function TraceForm() {
  const { query } = place.value;
  const { document } = useDocument<Allocations>('contiv/v1/ipam/allocations');
  const pods = (document?.Pods ?? []).map(({ PodID }) => `${PodID.Namespace}/${PodID.Name}`);
  const field = (name: string): string => query.get(name) ?? '';
  return (
    <form
      class="filters"
      // Other defaults need other fields.
      key={query.toString()}
      onSubmit={(event) => {
        event.preventDefault();
        const fields = new FormData(event.currentTarget);
        const given = [...fields].map(([name, value]) => [name, String(value).trim()]);
        location.hash = href('trace', Object.fromEntries(given));
      }}
    >
      <label>
        From: pod of this node
        <input name="from" size={30} required list="trace-pods" defaultValue={field('from')} />
      </label>
      <label>
        To: pod, service or address
        <input name="to" size={30} required list="trace-pods" defaultValue={field('to')} />
      </label>
      <label>
        Port: 80, UDP/53 or ICMP
        <input name="port" autocomplete="off" defaultValue={field('port')} />
      </label>
      <label>
        Through
        <select name="view" defaultValue={field('view')}>
          <option value="" selected={field('view') !== 'NB'}>
            the actual state
          </option>
          <option value="NB" selected={field('view') === 'NB'}>
            the desired state
          </option>
        </select>
      </label>
      <datalist id="trace-pods">
        {pods.slice(0, MAX_OFFERED).map((pod) => (
          <option key={pod} value={pod} />
        ))}
      </datalist>
      <button type="submit">Trace</button>
    </form>
  );
}

const verdicts: Readonly<Record<PairTrace['verdict'], readonly [Tone, string]>> = {
  delivered: ['good', 'delivered'],
  continues: ['waiting', 'continues on another node'],
  failed: ['bad', 'not delivered'],
};

function Result({ document }: { readonly document: PairTrace }) {
  const { from, to, packet, verdict, paths, omittedPaths, command, node } = document;
  const [tone, word] = verdicts[verdict];
  const pods = podsOfDevices(document);
  const port =
    packet.protocol === null
      ? 'only addresses'
      : packet.protocol === 'ICMP'
        ? 'ICMP echo'
        : `${packet.protocol} port ${packet.destinationPort}`;
  return (
    <>
      <h2>
        {from.name} → {to.name}
      </h2>
      <p>
        <Badge tone={tone}>{word}</Badge> {packet.source} to {packet.destination}, {port}.{' '}
        {to.kind !== 'service' && (
          <a
            href={href('connectivity', {
              from: from.name,
              to: to.name,
              port: portArgument(packet),
            })}
          >
            What the policies say
          </a>
        )}
      </p>
      {verdict === 'continues' && (
        <div class="notice">
          <p>
            The trace ends where the packet leaves {node}: this agent does not know the state of
            other nodes. To follow it through all nodes, run:
          </p>
          <pre>{command}</pre>
        </div>
      )}
      {omittedPaths > 0 && (
        <p class="quiet">
          {paths.length} of {paths.length + omittedPaths} paths shown.
        </p>
      )}
      {paths.map((path, at) => (
        <Path
          key={at}
          path={path}
          pods={pods}
          name={`Path ${at + 1} of ${paths.length + omittedPaths}`}
        />
      ))}
    </>
  );
}

function portArgument({ protocol, destinationPort }: PairTrace['packet']): string {
  return protocol === null || protocol === 'ICMP' ? '' : `${protocol}/${destinationPort}`;
}

interface PathProps {
  readonly path: TracedPath;
  readonly name: string;
  /** By the device that is their network namespace. */
  readonly pods: ReadonlyMap<string, string>;
}

function Path({ path, name, pods }: PathProps) {
  const { share, trace, reply } = path;
  return (
    <section class="path">
      {share < 1 && (
        <h3>
          {name} · {shareText(share)} of connections
        </h3>
      )}
      <div class="ways">
        <Way title="Packet" way={trace} pods={pods} />
        {reply && <Way title="Reply" way={reply} pods={pods} />}
      </div>
    </section>
  );
}

const ends: Readonly<Record<OneWay['verdict'], readonly [Tone, string]>> = {
  delivered: ['good', 'delivered'],
  left: ['waiting', 'leaves this node'],
  refused: ['bad', 'refused'],
  dropped: ['bad', 'dropped'],
};

interface WayProps extends Pick<PathProps, 'pods'> {
  readonly title: string;
  readonly way: OneWay;
}

function Way({ title, way, pods }: WayProps) {
  const [tone, word] = ends[way.verdict];
  return (
    <div class="way card">
      <h4>
        {title} <Badge tone={tone}>{word}</Badge>
      </h4>
      <ol>
        {hopGroups(way.hops).map(({ device, hops }, at) => (
          <li key={at}>
            <strong title={device}>{deviceText(device, pods)}</strong>
            <ul>
              {hops.map(({ description, key }, place) => (
                <li key={place}>
                  <span title={description}>{shortened(description)}</span>
                  {key !== '' && (
                    <a class="decided" href={href('values', { key })} title={key}>
                      {shortened(key)}
                    </a>
                  )}
                </li>
              ))}
            </ul>
          </li>
        ))}
      </ol>
      {way.continuesOn && <p>{continuationText(way.continuesOn)}</p>}
    </div>
  );
}

function deviceText(device: string, pods: ReadonlyMap<string, string>): string {
  const pod = pods.get(device);
  return pod === undefined ? shortened(deviceName(device)) : `Pod ${pod}`;
}

function continuationText({ node, address, isTunnel }: NonNullable<OneWay['continuesOn']>): string {
  const where = node === '' ? address : `node ${node} (${address})`;
  return isTunnel ? `Continues in a VXLAN tunnel to ${where}.` : `Continues to ${where}.`;
}
