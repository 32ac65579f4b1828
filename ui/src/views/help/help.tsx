/** The documentation about a component or an error, of the release of this agent: `#/help?component=vpp&code=CV_…`. */
import errors from '../../../../docs/errors.md';
import runbooks from '../../../../docs/runbooks.md';
import status from '../../../../docs/status.md';
import troubleshooting from '../../../../docs/troubleshooting.md';
import { place } from '../../location.ts';
import { type HelpSection, type HelpTable, helpTopic, spans } from './help-topic.ts';

export function Help() {
  const { query } = place.value;
  const [component, code] = [query.get('component') ?? '', query.get('code') ?? ''];
  const topic = helpTopic({ status, errors, troubleshooting, runbooks }, component, code);
  const subject = [component, code].filter((one) => one !== '').join(', ');
  return (
    <>
      <p class="quiet">
        What the documentation of this release says about {subject === '' ? 'nothing' : subject}.
      </p>
      {topic.tables.length === 0 && topic.runbook === undefined && (
        <p class="problem" role="alert">
          The documentation of this release has nothing about it.
        </p>
      )}
      {topic.tables.map((table) => (
        <Rows key={`${table.page} ${table.rows[0]?.[0]}`} table={table} />
      ))}
      {topic.runbook && <Runbook section={topic.runbook} />}
    </>
  );
}

function Rows({ table: { page, titles, rows } }: { readonly table: HelpTable }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard
    <section class="scroll" tabIndex={0} aria-label={`From docs/${page}`}>
      <table>
        <caption>docs/{page}</caption>
        <thead>
          <tr>
            {titles.map((title) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.join()}>
              {row.map((cell, at) => (
                <td key={titles[at]}>
                  <Line text={cell} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Runbook({ section: { title, steps } }: { readonly section: HelpSection }) {
  return (
    <section aria-labelledby="runbook">
      <h2 id="runbook">{title}</h2>
      <p class="quiet">docs/runbooks.md</p>
      <ol>
        {steps.map((step) => (
          <li key={step}>
            <Line text={step} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Line({ text }: { readonly text: string }) {
  return (
    <>
      {spans(text).map((span, at) => {
        // Parts of a line have no identity but their place.
        const key = at;
        return span.isCode ? <code key={key}>{span.text}</code> : span.text;
      })}
    </>
  );
}
