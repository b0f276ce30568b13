/** What the page loads when it is first opened: most visits answer something and leave. */
import { Detail } from "./detail.tsx";
import { History } from "./history.tsx";
import { provideMore } from "./more-loader.tsx";
import { PastBar, PastInbox, PastRail, pastActions } from "./rewind.tsx";

provideMore({ History, Detail, PastBar, PastInbox, PastRail, pastActions });
