/** One pair in words: which policies apply to its ends, and which of their rules decide about connections. */

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { PairDocument } from '#documents/connectivity.ts';
import { useDocument } from '../../agent/use-document.ts';
import { Badge } from '../../components/badge.tsx';
import { Loading } from '../../components/loading.tsx';
import { changeQuery, href, place } from '../../location.ts';
import { firstPort, portsInWords } from './port-list.ts';

interface Props {
  readonly from: string;
  readonly to: string;
  readonly port: string;
}

export function Pair({ from, to, port }: Props) {
  const heading = useRef<HTMLHeadingElement>(null);
  const asked = new URLSearchParams({ from, to, ...(port !== '' && { port }) });
  const loaded = useDocument<PairDocument>(`contiv/v1/policy/connectivity?${asked}`, {
    everyMs: 10_000,
  });
  // A link of the matrix leads here.
  useLayoutEffect(() => heading.current?.focus(), [from, to]);
  const rest = Object.fromEntries(place.value.query);
  return (
    <section class="pair card" aria-labelledby="pair-heading">
      <h2 id="pair-heading" ref={heading} tabIndex={-1}>
        {from} → {to}
      </h2>
      <Loading of={loaded} what="the pair">
        {(pair) => <Explained pair={pair} />}
      </Loading>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          const text = new FormData(event.currentTarget).get('port');
          changeQuery({ port: typeof text === 'string' ? text.trim() : '' });
        }}
      >
        <label>
          Only this port, such as TCP/80
          <input key={port} name="port" defaultValue={port} autocomplete="off" />
        </label>
        <button type="submit">Explain</button>
        <a href={href('connectivity', { ...rest, from: to, to: from, port: '' })}>
          Opposite direction
        </a>
        <a href={href('connectivity', { ...rest, from: '', to: '', port: '' })}>Close</a>
      </form>
    </section>
  );
}

function Explained({ pair }: { readonly pair: PairDocument }) {
  const { from, to, port, verdict, ports, otherFamilies, egress, ingress } = pair;
  const isPermitted = verdict === 'permitted';
  // A trace begins at a pod.
  const isFromPod = egress !== null || from === to;
  const traced = port ?? firstPort(ports);
  return (
    <>
      <p>
        <Badge tone={isPermitted ? 'good' : 'bad'}>{verdict}</Badge>{' '}
        {port === null
          ? `${from} may reach ${portsInWords(ports)} of ${to}.`
          : `${from} may ${isPermitted ? '' : 'not '}reach ${port.replace('/', ' ')} of ${to}.`}{' '}
        {isFromPod && (
          <a href={href('trace', { from, to, port: traced })}>
            Trace {traced === '' ? 'a packet' : traced.replace('/', ' ')}
          </a>
        )}
      </p>
      {otherFamilies && (
        <p>
          No family of addresses in common: {from} has {otherFamilies.from}, {to} has{' '}
          {otherFamilies.to}.
        </p>
      )}
      {from === to && <p>A pod always reaches itself.</p>}
      {egress && <Direction of={from} other={to} name="egress" document={egress} />}
      {ingress && <Direction of={to} other={from} name="ingress" document={ingress} />}
    </>
  );
}

interface DirectionProps {
  readonly of: string;
  readonly other: string;
  readonly name: 'egress' | 'ingress';
  readonly document: NonNullable<PairDocument['egress']>;
}

function Direction({ of, other, name, document: { policies, rules, undecided } }: DirectionProps) {
  const what = name === 'egress' ? `What ${of} sends` : `What ${of} receives`;
  const towards = name === 'egress' ? `To ${other}` : `From ${other}`;
  return (
    <>
      <h3>
        {name === 'egress' ? 'Egress' : 'Ingress'} of {of}
      </h3>
      {policies.length === 0 ? (
        <p>{what} is permitted: no policy applies to it in this direction.</p>
      ) : (
        <p>
          {what} is decided by {policies.length === 1 ? 'policy' : 'policies'} {policies.join(', ')}
          . {towards}:
        </p>
      )}
      {policies.length > 0 && (
        <ul>
          {rules.map((rule) => (
            <li key={`${rule.policy} ${rule.rule}`}>
              {rule.text}: {portsInWords(rule.ports)}
            </li>
          ))}
          {undecided !== 'No Connections' && (
            <li>permitted, because no rule denies it: {portsInWords(undecided)}</li>
          )}
        </ul>
      )}
    </>
  );
}
