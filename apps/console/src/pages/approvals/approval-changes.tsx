import type { ApprovalDetailView } from '@app/api-client';
import { Equal } from 'lucide-react';
import type { ReactNode } from 'react';
import { texts } from '../../texts/index.js';
import { diff, wordCount, wordsOf } from '../../ui/diff/diff.js';
import { Segmented } from '../../ui/segmented.js';
import { useAddressState } from '../../ui/tabs.js';
import { DiffSide, LineDiff, WordDiff } from '../../ui/diff/text-diff.js';
import { VisibleText } from '../../ui/diff/visible-text.js';
import { type Member, membersOf, quotedIn, shown } from './definition-changes.js';

type Look = 'words' | 'sides' | 'json';

const looks: readonly { readonly value: Look; readonly label: string }[] = [
  { value: 'words', label: texts.approvals.words },
  { value: 'sides', label: texts.approvals.sides },
  { value: 'json', label: texts.approvals.json },
];

/** What differs from the approved definition, member by member. */
export function ApprovalChanges({ approval }: { readonly approval: ApprovalDetailView }) {
  const [address, setLook] = useAddressState('diff', 'words');
  const look = looks.find(({ value }) => value === address)?.value ?? 'words';
  const members = membersOf(approval);
  const changed = members.filter(({ isChanged }) => isChanged);
  const marked = quotedIn(approval);
  const switcher = !approval.is_new && (
    <Segmented label={texts.approvals.diffLook} value={look} options={looks} onChange={setLook} />
  );
  return (
    <>
      {look === 'json' && !approval.is_new ? (
        <Block head={<Name>{texts.approvals.wholeDefinition}</Name>} action={switcher}>
          <LineDiff
            before={shown(approval.approved_definition ?? undefined)}
            after={shown(approval.listed_definition)}
            marked={marked}
          />
        </Block>
      ) : (
        changed.map((member, at) => (
          <Block
            key={member.name}
            head={<MemberHead member={member} isNew={approval.is_new} />}
            action={at === 0 && switcher}
          >
            <Change member={member} look={look} isNew={approval.is_new} marked={marked} />
          </Block>
        ))
      )}
      {look !== 'json' && <SameMembers members={members.filter((one) => !one.isChanged)} />}
    </>
  );
}

interface BlockProps {
  readonly head: ReactNode;
  readonly action: ReactNode;
  readonly children: ReactNode;
}

function Block({ head, action, children }: BlockProps) {
  return (
    <section className="border-line border-b px-5 pt-2 pb-4">
      <div className="mb-2 flex min-h-(--control) flex-wrap items-center gap-2">
        {head}
        <div className="ml-auto">{action}</div>
      </div>
      {children}
    </section>
  );
}

function Name({ children }: { readonly children: ReactNode }) {
  return <h3 className="font-mono text-small font-medium">{children}</h3>;
}

function MemberHead({ member, isNew }: { readonly member: Member; readonly isNew: boolean }) {
  const { before, after, changes } = member;
  const isText = typeof (before ?? after) === 'string';
  const parts = isText ? diff(wordsOf(shown(before)), wordsOf(shown(after))) : [];
  const summary = isText
    ? texts.approvals.wordsChanged(wordCount(parts, 'added'), wordCount(parts, 'removed'))
    : texts.approvals.membersChanged(changes);
  return (
    <>
      <Name>{member.name}</Name>
      {!isNew && <span className="text-text-3 text-small">{summary}</span>}
    </>
  );
}

interface ChangeProps {
  readonly member: Member;
  readonly look: Look;
  readonly isNew: boolean;
  readonly marked: readonly string[];
}

function Change({ member, look, isNew, marked }: ChangeProps) {
  const [before, after] = [shown(member.before), shown(member.after)];
  const isText = typeof (member.before ?? member.after) === 'string';
  if (isNew) {
    return (
      <Well isCode={!isText}>
        <VisibleText marked={marked}>{after}</VisibleText>
      </Well>
    );
  }
  if (look === 'sides') {
    return (
      <div className="grid gap-4 nav:grid-cols-2">
        {(['before', 'after'] as const).map((side) => (
          <div key={side} className="min-w-0">
            <p className="text-text-3 mb-1 text-label">{texts.approvals[side]}</p>
            <Well isCode={!isText}>
              <DiffSide {...{ before, after, side, marked }} isCode={!isText} />
            </Well>
          </div>
        ))}
      </div>
    );
  }
  if (!isText) return <LineDiff before={before} after={after} marked={marked} />;
  return (
    <div className="border-line rounded-2 border px-4 py-3 leading-[1.8]">
      <WordDiff before={before} after={after} marked={marked} />
    </div>
  );
}

function Well({ isCode, children }: { readonly isCode: boolean; readonly children: ReactNode }) {
  return isCode ? (
    <pre
      tabIndex={0}
      className="border-line bg-inset max-h-120 overflow-auto rounded-2 border px-3 py-2 font-mono text-small"
    >
      {children}
    </pre>
  ) : (
    <p className="border-line rounded-2 border px-4 py-3 [overflow-wrap:anywhere] whitespace-pre-wrap">
      {children}
    </p>
  );
}

function SameMembers({ members }: { readonly members: readonly Member[] }) {
  if (members.length === 0) return null;
  return (
    <div className="border-line flex min-h-10 items-center gap-2 border-b px-5 py-2">
      <h3 className="font-mono text-small [overflow-wrap:anywhere]">
        {members.map(({ name }) => name).join(', ')}
      </h3>
      <span className="text-text-3 ml-auto flex items-center gap-1 text-small">
        <Equal size={14} aria-hidden /> {texts.approvals.same}
      </span>
    </div>
  );
}
