/** Relations of a value as tables: all that the agent names, where the picture shows the first ones. */
import type {
  RelatedValue,
  SingleValue,
  ValueDependency,
} from '#documents/scheduler/single-value.ts';
import { Badge, ValueStateBadge } from '../../components/badge.tsx';
import { href } from '../../location.ts';
import { ValueLink } from './value-link.tsx';

/** Of the values that meet a dependency: any of them is enough. */
const MAX_MEETING = 5;

export function DependencyList({ total, list }: SingleValue['dependencies']) {
  if (total === 0) return null;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Condition</th>
            <th scope="col">Met</th>
            <th scope="col">Key or prefix</th>
            <th scope="col">Values</th>
          </tr>
        </thead>
        <tbody>
          {list.map((dependency) => (
            <tr key={dependency.label}>
              <td>{dependency.label}</td>
              <td>
                <Badge tone={dependency.isMet ? 'good' : 'waiting'}>
                  {dependency.isMet ? 'met' : 'not met'}
                </Badge>
              </td>
              <td>
                <Condition dependency={dependency} />
              </td>
              <td>
                <Meeting dependency={dependency} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Shown shown={list.length} total={total} />
    </>
  );
}

function Condition({ dependency: { key, prefixes = [], isSelective } }: DependencyProps) {
  return (
    <ul class="plain">
      {key !== undefined && (
        <li>
          <ValueLink valueKey={key} />
        </li>
      )}
      {prefixes.map((prefix) => (
        <li key={prefix}>
          {isSelective ? 'some of' : 'any of'}{' '}
          <a href={href('values', { search: prefix })}>
            <code>{prefix}</code>
          </a>
        </li>
      ))}
    </ul>
  );
}

interface DependencyProps {
  readonly dependency: ValueDependency;
}

function Meeting({ dependency: { values, hasMore, unavailable } }: DependencyProps) {
  const shown = values.slice(0, MAX_MEETING);
  const more = values.length - shown.length;
  return (
    <ul class="plain">
      {(shown.length > 0 ? shown : unavailable).map((one) => (
        <li key={one.key}>
          <ValueLink valueKey={one.key} isShort /> <ValueStateBadge state={one.state} />
        </li>
      ))}
      {(more > 0 || hasMore) && (
        <li class="quiet">
          and {more}
          {hasMore && ' or more'} others
        </li>
      )}
      {values.length + unavailable.length === 0 && <li class="quiet">none</li>}
    </ul>
  );
}

export function DependentList({ total, values }: SingleValue['dependents']) {
  if (total === 0) return null;
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">State</th>
            <th scope="col">Because of</th>
            <th scope="col">Waits</th>
          </tr>
        </thead>
        <tbody>
          {values.map(({ key, state, labels, isWaiting }) => (
            <tr key={key}>
              <td>
                <ValueLink valueKey={key} />
              </td>
              <td>
                <ValueStateBadge state={state} />
              </td>
              <td>{labels.join(', ')}</td>
              <td>{isWaiting ? 'for this value' : 'no'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Shown shown={values.length} total={total} />
    </>
  );
}

interface DerivedProps {
  readonly total: number;
  readonly values: readonly RelatedValue[];
}

export function DerivedList({ total, values }: DerivedProps) {
  return (
    <>
      <table>
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">State</th>
          </tr>
        </thead>
        <tbody>
          {values.map(({ key, state }) => (
            <tr key={key}>
              <td>
                <ValueLink valueKey={key} />
              </td>
              <td>
                <ValueStateBadge state={state} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Shown shown={values.length} total={total} />
    </>
  );
}

function Shown({ shown, total }: { readonly shown: number; readonly total: number }) {
  if (shown === total) return null;
  return (
    <p class="quiet">
      {shown} of {total.toLocaleString('en-US')} shown
    </p>
  );
}
