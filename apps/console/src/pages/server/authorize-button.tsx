import { useMutation } from '@tanstack/react-query';
import { ExternalLink } from 'lucide-react';
import { toast } from 'sonner';
import { ask } from '../../api/service.js';
import { useMay } from '../../session/session.js';
import { texts } from '../../texts/index.js';
import { Button } from '../../ui/button.js';

interface AuthorizeButtonProps {
  readonly id: string;
  readonly primary?: boolean;
}

/** The address comes from the authorization server: only web pages are opened, and they cannot reach this one. */
function isWebPage(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}

/** Opens the page where a person consents. The tab opens with the click, because browsers refuse it later. */
export function AuthorizeButton({ id, primary = false }: AuthorizeButtonProps) {
  const mayConsent = useMay('admin');
  const asking = useMutation({
    mutationFn: async () =>
      (await ask((api) => api.authorizeServer({ path: { id } }))).authorization_url,
  });
  if (!mayConsent) return null;
  const open = (): void => {
    const tab = window.open('about:blank', '_blank');
    if (tab) tab.opener = null;
    asking.mutate(undefined, {
      onSuccess: (address) => {
        if (!isWebPage(address)) {
          tab?.close();
          toast.error(texts.server.login.notAWebPage);
        } else if (tab) tab.location.href = address;
        else window.location.href = address;
      },
      onError: () => tab?.close(),
    });
  };
  return (
    <Button
      kind={primary ? 'primary' : 'plain'}
      icon={ExternalLink}
      busy={asking.isPending}
      onClick={open}
    >
      {texts.server.login.authorize}
    </Button>
  );
}
