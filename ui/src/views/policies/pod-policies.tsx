/** The rules of one pod, in the order in which they decide. */
import type { PolicyPodDocument, RuleList } from '#documents/policies.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { href } from '../../location.ts';

/** Peers of a rule that are shown; the others are counted. */
const MAX_PEERS = 12;

/** @param name `namespace/name` */
export function PodPolicies({ name }: { readonly name: string }) {
  const [namespace = '', pod = ''] = name.split('/', 2);
  const path = `contiv/v1/policy/pods/${encodeURIComponent(namespace)}/${encodeURIComponent(pod)}`;
  const loaded = useDocument<PolicyPodDocument>(path, { afterEvents: true, everyMs: 30_000 });
  const isGone = loaded.error?.status === 404;
  return (
    <>
      <p>
        <a href={href('policies')}>All pods with policies</a>
      </p>
      <h2>{name}</h2>
      <p>
        <a href={href('pods', { pod: name })}>The pod</a>,{' '}
        <a href={href('connectivity', { search: name })}>who reaches it</a>
      </p>
      {isGone ? (
        <p class="problem" role="alert">
          Pod {name} is not attached to this node.
        </p>
      ) : (
        <Loading of={loaded} what="the policies">
          {({ attachments, problems, limits }) => (
            <>
              <Reasons title="Not carried as defined" reasons={problems} />
              <Reasons title="Left out because of a limit" reasons={limits} />
              {attachments.map(({ attachment, ingress, egress, values }) => (
                <section key={attachment}>
                  <Rules title="Ingress: what the pod receives" list={ingress} />
                  <Rules title="Egress: what the pod sends" list={egress} />
                  {values.length > 0 && (
                    <>
                      <h3>ACLs</h3>
                      <ul>
                        {values.map(({ key, state, error }) => (
                          <li key={key}>
                            <ValueStateBadge state={state} />{' '}
                            <a href={href('values', { key })}>{key}</a>
                            {error !== undefined && `: ${error}`}
                          </li>
                        ))}
                      </ul>
                    </>
                  )}
                </section>
              ))}
            </>
          )}
        </Loading>
      )}
    </>
  );
}

interface ReasonsProps {
  readonly title: string;
  readonly reasons: Readonly<Record<string, readonly string[]>>;
}

function Reasons({ title, reasons }: ReasonsProps) {
  const policies = Object.entries(reasons).filter(([, texts]) => texts.length > 0);
  if (policies.length === 0) return null;
  return (
    <section class="problem">
      <h3>{title}</h3>
      <dl>
        {policies.map(([policy, texts]) => (
          <div key={policy}>
            <dt>{policy}</dt>
            {texts.map((text) => (
              <dd key={text}>{text}</dd>
            ))}
          </div>
        ))}
      </dl>
    </section>
  );
}

function Rules({ title, list }: { readonly title: string; readonly list: RuleList }) {
  const { policies, rules } = list;
  if (policies.length === 0)
    return (
      <section>
        <h3>{title}</h3>
        <p>No policy applies: everything is permitted.</p>
      </section>
    );
  return (
    <section>
      <h3>{title}</h3>
      <p>Decided by {policies.join(', ')}. The first rule that matches decides.</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard */}
      <section class="scroll" tabIndex={0} aria-label={`Rules: ${title}`}>
        <table class="rules">
          <thead>
            <tr>
              <th scope="col">Action</th>
              <th scope="col">Peers</th>
              <th scope="col">Ports</th>
              <th scope="col">Rule</th>
            </tr>
          </thead>
          <tbody>
            {rules.map((rule) => (
              <tr key={`${rule.tier} ${rule.policy} ${rule.rule} ${rule.ports}`}>
                <td>
                  <Badge tone={tones[rule.action]}>{rule.action}</Badge>
                </td>
                <td>{peersText(rule.peers)}</td>
                <td>{rule.ports}</td>
                <td>
                  {rule.tier}: {rule.text}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

const tones = { Accept: 'good', Deny: 'bad', Pass: 'neutral' } as const;

function peersText(peers: readonly string[]): string {
  const shown = peers.slice(0, MAX_PEERS).join(', ') || 'none';
  return peers.length <= MAX_PEERS ? shown : `${shown} and ${peers.length - MAX_PEERS} more`;
}
