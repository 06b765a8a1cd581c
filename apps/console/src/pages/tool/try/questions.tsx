import { ExternalLink, MessageCircleQuestion } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { isJsonObject, type JsonObject } from '../../../mcp/json.js';
import type { Answers, Question } from '../../../mcp/messages.js';
import { texts } from '../../../texts/index.js';
import { Button } from '../../../ui/button.js';
import { Field, TextArea } from '../../../ui/field.js';
import { SchemaForm } from '../../../ui/schema-form/lazy-schema-form.js';
import { useCheck } from '../../../ui/schema-form/use-check.js';
import { VisibleText } from '../../../ui/diff/visible-text.js';

interface QuestionsProps {
  readonly server: string;
  readonly questions: readonly Question[];
  readonly onAnswer: (answers: Answers) => void;
}

/** Several questions that came together are answered one after the other, and sent together. */
export function Questions({ server, questions, onAnswer }: QuestionsProps) {
  const [answers, setAnswers] = useState<Answers>({});
  const open = questions.find(({ key }) => answers[key] === undefined);
  if (!open) return null;
  const answer = (value: JsonObject): void => {
    const all = { ...answers, [open.key]: value };
    setAnswers(all);
    if (questions.every(({ key }) => all[key] !== undefined)) onAnswer(all);
  };
  const props = { server, params: open.params, onAnswer: answer };
  if (open.method === 'sampling/createMessage') return <Sampling key={open.key} {...props} />;
  if (open.method !== 'elicitation/create') {
    return <Frame title={texts.tool.asks(server)}>{texts.tool.unknownAsk(open.method)}</Frame>;
  }
  return open.params['mode'] === 'url' ? (
    <UrlQuestion key={open.key} {...props} />
  ) : (
    <FormQuestion key={open.key} id={open.key} {...props} />
  );
}

interface FrameProps {
  readonly title: string;
  readonly hint?: string;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
}

function Frame({ title, hint, children, footer }: FrameProps) {
  return (
    <section className="border-warn-mark m-5 max-w-160 rounded-3 border">
      <h3 className="bg-warn-weak flex items-center gap-2 rounded-t-3 px-4 py-2 font-semibold">
        <MessageCircleQuestion size={16} aria-hidden className="text-warn" /> {title}
      </h3>
      <div className="px-4 py-3">
        {children}
        {hint !== undefined && <p className="text-text-3 mt-3 text-small">{hint}</p>}
      </div>
      {footer !== undefined && (
        <div className="border-line flex flex-wrap justify-end gap-2 border-t px-4 py-2.5">
          {footer}
        </div>
      )}
    </section>
  );
}

interface QuestionProps {
  readonly server: string;
  readonly params: JsonObject;
  readonly onAnswer: (answer: JsonObject) => void;
}

function messageOf(params: JsonObject): string {
  return typeof params['message'] === 'string' ? params['message'] : '';
}

/** To decline is an answer; to dismiss says that nothing was chosen. */
function Refusals({ onAnswer }: Pick<QuestionProps, 'onAnswer'>) {
  return (
    <>
      <Button kind="ghost" onClick={() => onAnswer({ action: 'cancel' })}>
        {texts.tool.dismiss}
      </Button>
      <Button onClick={() => onAnswer({ action: 'decline' })}>{texts.tool.decline}</Button>
    </>
  );
}

function FormQuestion({ id, server, params, onAnswer }: QuestionProps & { readonly id: string }) {
  const [value, setValue] = useState<unknown>({});
  const [wasTried, setTried] = useState(false);
  const given = params['requestedSchema'];
  const schema = isJsonObject(given) ? given : {};
  const problems = useCheck(schema, value) ?? [];
  return (
    <Frame
      title={texts.tool.asks(server)}
      hint={texts.tool.asksHint}
      footer={
        <>
          {wasTried && problems.length > 0 && (
            <span role="status" className="text-bad mr-auto self-center text-small">
              {texts.tool.toFix(problems.length)}
            </span>
          )}
          <Refusals onAnswer={onAnswer} />
          <Button
            kind="primary"
            onClick={() => {
              setTried(true);
              if (problems.length === 0) onAnswer({ action: 'accept', content: value });
            }}
          >
            {texts.tool.send}
          </Button>
        </>
      }
    >
      <p className="mb-3 [overflow-wrap:anywhere] whitespace-pre-wrap">
        <VisibleText>{messageOf(params)}</VisibleText>
      </p>
      <SchemaForm
        id={`ask-${id}`}
        schema={schema}
        value={value}
        labels="titles"
        showsMissing={wasTried}
        onChange={setValue}
      />
    </Frame>
  );
}

function UrlQuestion({ server, params, onAnswer }: QuestionProps) {
  const url = typeof params['url'] === 'string' ? params['url'] : '';
  const isWeb = /^https?:\/\//.test(url);
  return (
    <Frame
      title={texts.tool.asks(server)}
      hint={texts.tool.urlWarning}
      footer={
        <>
          <Refusals onAnswer={onAnswer} />
          <Button kind="primary" onClick={() => onAnswer({ action: 'accept' })}>
            {texts.tool.opened}
          </Button>
        </>
      }
    >
      <p className="mb-2 [overflow-wrap:anywhere] whitespace-pre-wrap">
        <VisibleText>{messageOf(params)}</VisibleText>
      </p>
      <p className="text-text-2">{texts.tool.urlAsk}</p>
      <p className="font-mono text-small [overflow-wrap:anywhere]">
        {isWeb ? (
          <a href={url} target="_blank" rel="noopener noreferrer">
            <VisibleText>{url}</VisibleText>{' '}
            <ExternalLink size={12} aria-hidden className="inline" />
          </a>
        ) : (
          <VisibleText>{url}</VisibleText>
        )}
      </p>
    </Frame>
  );
}

function messagesOf(params: JsonObject): { readonly role: string; readonly text: string }[] {
  const messages = params['messages'];
  if (!Array.isArray(messages)) return [];
  return (messages as unknown[]).filter(isJsonObject).map(({ role, content }) => ({
    role: typeof role === 'string' ? role : '',
    text:
      isJsonObject(content) && typeof content['text'] === 'string'
        ? content['text']
        : JSON.stringify(content, undefined, 2),
  }));
}

function Sampling({ server, params, onAnswer }: QuestionProps) {
  const [reply, setReply] = useState('');
  const system = params['systemPrompt'];
  return (
    <Frame
      title={texts.tool.sampling(server)}
      hint={texts.tool.samplingHint}
      footer={
        <Button
          kind="primary"
          disabled={reply.trim() === ''}
          onClick={() =>
            onAnswer({
              role: 'assistant',
              content: { type: 'text', text: reply },
              model: 'person-at-console',
              stopReason: 'endTurn',
            })
          }
        >
          {texts.tool.send}
        </Button>
      }
    >
      <dl className="mb-3 flex flex-col gap-2">
        {[
          ...(typeof system === 'string' && system !== ''
            ? [{ role: texts.tool.systemPrompt, text: system }]
            : []),
          ...messagesOf(params),
        ].map(({ role, text }, at) => (
          <div key={at} className="border-line-2 border-l pl-3">
            <dt className="text-text-3 text-small">{role}</dt>
            <dd className="[overflow-wrap:anywhere] whitespace-pre-wrap">
              <VisibleText>{text}</VisibleText>
            </dd>
          </div>
        ))}
      </dl>
      <Field label={texts.tool.reply}>
        <TextArea rows={4} value={reply} onChange={(event) => setReply(event.target.value)} />
      </Field>
    </Frame>
  );
}
