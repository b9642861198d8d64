// The root component: the matched page inside the boundary that shows the error page.
import { useRoutes } from "react-router-dom";
import { ErrorBoundary } from "./components/error-boundary.tsx";
import { FailedPostContext, type FailedPost } from "./early-access/failed-post.ts";
import { ErrorPage } from "./pages/error.tsx";
import { PrivacyContext, type PrivacySettings } from "./privacy-settings.ts";
import { routes, type PageRoute } from "./routes.tsx";

interface Props {
  table?: PageRoute[];
  failedPost?: FailedPost | undefined;
  privacy: PrivacySettings;
}

export function App({ table = routes, failedPost, privacy }: Props) {
  return (
    <PrivacyContext value={privacy}>
      <ErrorBoundary fallback={<ErrorPage />}>
        <FailedPostContext value={failedPost}>
          <Page table={table} />
        </FailedPostContext>
      </ErrorBoundary>
    </PrivacyContext>
  );
}

function Page({ table }: { table: PageRoute[] }) {
  return useRoutes(table);
}
