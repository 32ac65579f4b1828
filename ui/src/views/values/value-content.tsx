/** The value as JSON: what is desired, and what is in VPP or Linux. */

import type { SingleValue } from '#documents/scheduler/single-value.ts';
import { FieldChanges } from './field-changes.tsx';
import { mappingsInWords } from './socket-mapping.ts';
import { SocketMappings } from './socket-mappings.tsx';

/** Characters: a browser needs long for more, and nobody reads it. */
const MAX_TEXT = 100_000;

export function ValueContent({ value }: { readonly value: SingleValue }) {
  const { key, isAsDesired, desired, actual, rejected, metadata } = value;
  const isSame = isAsDesired && desired !== null;
  const mappings = mappingsInWords(key, actual ?? desired);
  return (
    <div class="value-content">
      {mappings && <SocketMappings mappings={mappings} />}
      {isSame && <Json title="Value, configured as desired" json={desired} />}
      {!isSame && desired !== null && <Json title="Desired value" json={desired} />}
      {rejected && <Json title="Rejected value" json={rejected.value} />}
      {!isSame && actual !== null && (
        <Json title={desired === null ? 'Value' : 'Actual value'} json={actual} />
      )}
      {!isSame && desired !== null && actual !== null && (
        <section aria-labelledby="difference">
          <h3 id="difference">From the actual value to the desired one</h3>
          <FieldChanges before={actual} after={desired} />
        </section>
      )}
      {metadata !== null && <Json title="Metadata" json={metadata} />}
    </div>
  );
}

function Json({ title, json }: { readonly title: string; readonly json: unknown }) {
  const text = JSON.stringify(json, undefined, 2);
  const id = title.replaceAll(/\W+/g, '-').toLowerCase();
  return (
    <div>
      <h3 id={id}>{title}</h3>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also with the keyboard */}
      <section class="json" tabIndex={0} aria-labelledby={id}>
        <pre>{text.slice(0, MAX_TEXT)}</pre>
      </section>
      {text.length > MAX_TEXT && (
        <p class="quiet">
          The first {MAX_TEXT.toLocaleString('en-US')} of {text.length.toLocaleString('en-US')}{' '}
          characters are shown.
        </p>
      )}
    </div>
  );
}
