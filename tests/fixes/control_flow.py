"""Functions of which each control flow is one that torch.export cannot decide in Python."""

FUNCTIONS = {
    "tensor_and_float": """
        def forward(self, x):
            # large inputs are scaled
            if x.abs().max() > 10:
                x = x / x.abs().max()  # to one
                scale = 0.5
            else:
                scale = 1.0
            return x * scale
    """,
    "named_test": """
        def forward(self, x):
            y = x * 2
            if (m := x.mean()) > 0:
                y = y - m
            return y
    """,
    "early_return_in_size_branch": """
        def forward(self, x):
            if x.shape[0] > 4:
                if x.sum() > 0:
                    return x * 2
            return x - 1
    """,
    "collected_on_either_way": """
        def forward(self, x):
            h = torch.zeros_like(x[:, 0])
            out = []
            for t in range(x.shape[1]):
                h = torch.tanh(self.cell(x[:, t]) + h)
                if t % 2 == 0:
                    out.append(h)
                else:
                    out.append(h * 0.5)
            return torch.stack(out, dim=1)
    """,
    "break_in_recurrence": """
        def forward(self, x):
            h = x[:, 0] * 0
            n = 0
            for t in range(x.shape[1]):
                h = h + x[:, t]
                n += 1
                if h.abs().max() > 1.5:
                    break
            return h / n
    """,
    "break_in_fixed_loop": """
        def forward(self, x):
            y = x
            for i in range(3):
                if y.abs().max() > 2:
                    break
                y = y * 1.5
            return y
    """,
    "return_in_fixed_loop": """
        def forward(self, x):
            y = x
            for i in range(3):
                y = y * 1.5
                if y.abs().max() > 2:
                    return y + i
            return y
    """,
    "choice_of_each_row": """
        def forward(self, x):
            rows = []
            for row in x:
                v = row.sum() if row.mean() > 0 else row.prod()
                rows.append(v)
            return torch.stack(rows)
    """,
    "comprehension": """
        def forward(self, x):
            return torch.stack([row * 2 if row.sum() > 0 else row for row in x])
    """,
    "check_and_two_tests": """
        def forward(self, x):
            if x.abs().max() > 100:
                raise ValueError("too large")
            y = x
            if x.sum() > 0 and x.min() < 0:
                y = -x
            return y
    """,
    "while_on_data": """
        def forward(self, x):
            n = 0
            while x.abs().max() > 1:
                x = x / 2
                n += 1
            return x * n
    """,
    "number_and_elif": """
        def forward(self, x):
            m = x.mean().item()
            if m > 0.1:
                return x - m
            elif m < -0.5:
                return x + m
            return x
    """,
    "collected_where_positive": """
        def forward(self, x):
            h = x.new_zeros(x.shape[0], 4)
            out = []
            for t in range(x.shape[1]):
                h = torch.tanh(x[:, t] + h)
                if h.sum() > 0:
                    out.append(h)
            out.append(h)
            return torch.stack(out).sum(0)
    """,
    "filtered_in_fixed_loop": """
        def forward(self, x):
            out = []
            for k in range(3):
                y = x * (k - 1)
                if y.sum() > 0:
                    out.append(y.sum())
            out.append(x.sum())
            return torch.stack(out)
    """,
    "written_rows": """
        def forward(self, x):
            out = torch.zeros_like(x)
            h = x[:, 0]
            for t in range(x.shape[1]):
                h = (h + x[:, t]) / 2
                if h.mean() > 0:
                    out[:, t] = h
            return out
    """,
    "return_in_recurrence": """
        def forward(self, x):
            h = x[:, 0] * 0
            for t in range(x.shape[1]):
                h = h + x[:, t]
                if h.abs().max() > 1.5:
                    return h * 2
            return h - 1
    """,
    "continue_and_counts": """
        def forward(self, x):
            acc = 0.0
            count = 0
            for row in x:
                if row.sum() < 0:
                    continue
                acc = acc + row.max()
                count += 1
            return acc / max(count, 1)
    """,
    "best_of_each_row": """
        def forward(self, x):
            out = []
            for i in range(x.shape[0]):
                best = x[i, 0] * 0
                for j in range(x.shape[1]):
                    if x[i, j].sum() > best.sum():
                        best = x[i, j]
                out.append(best)
            return torch.stack(out)
    """,
    "none_before_first": """
        def forward(self, x):
            h = None
            for t in range(x.shape[1]):
                if h is None:
                    h = x[:, t]
                else:
                    h = torch.tanh(h + x[:, t])
            return h
    """,
    "match_on_number": """
        def forward(self, x):
            match int(x.argmax() % 3):
                case 0:
                    y = x * 2
                case 1:
                    y = x + 1
                case _:
                    y = -x
            return y
    """,
    "pair_returned_early": """
        def forward(self, x):
            if x.sum() > 0:
                return x, x.sum()
            y = x - 1
            return y, y.sum()
    """,
    "warning_and_not": """
        def forward(self, x):
            if torch.isnan(x).any():
                warnings.warn("nan")
            if not torch.isfinite(x).all() or x.sum() > 1e9:
                x = torch.zeros_like(x)
            return x
    """,
    "two_loops": """
        def forward(self, x):
            total = 0.0
            for row in x:
                for v in row:
                    s = v.sum()
                    if s > 0:
                        total += s
                    elif s < -1:
                        total -= s * 0.5
            return total
    """,
    "any_of_rows": """
        def forward(self, x):
            if any(row.sum() > 3 for row in x):
                return x * 2
            return x
    """,
    "zip_and_max": """
        def forward(self, x):
            lo = max(0.1, x.mean().item())
            out = []
            for i, (a, b) in enumerate(zip(x, x.flip(0))):
                y = a if a.sum() > lo else b
                out.append(y * (i + 1))
            return torch.cat(out, dim=0)
    """,
    "loop_else": """
        def forward(self, x):
            for row in x.unbind(1):
                if row.sum() > 3:
                    break
            else:
                return x * 2
            return x
    """,
    "variable_after_break": """
        def forward(self, x):
            for t in range(x.shape[1]):
                y = x[:, t] * 2
                if y.sum() > 0:
                    break
            return y + t
    """,
    "last_of_list": """
        def forward(self, x):
            out = [x[:, 0]]
            for t in range(1, x.shape[1]):
                prev = out[-1]
                if prev.sum() > 0:
                    out.append(prev * 0.5 + x[:, t])
                else:
                    out.append(x[:, t])
            return torch.stack(out, 1)
    """,
    "two_carried": """
        def forward(self, x):
            lo, hi = x[:, 0], x[:, 0]
            for row in x.unbind(1):
                if row.sum() < lo.sum():
                    lo, hi = row, lo
                elif row.sum() > hi.sum():
                    hi = row
            return torch.stack([lo, hi])
    """,
    "slices_of_one_row": """
        def forward(self, x):
            h = x.new_zeros(x.shape[0], x.shape[2])
            for t in range(x.shape[1]):
                h = torch.tanh(h + x[:, t : t + 1].sum(1))
            return h
    """,
    "none_compared": """
        def forward(self, x):
            labels, last = [], None
            for label in x[0].argmax(-1).tolist():
                if label != last and label != 0:
                    labels.append(label)
                last = label
            return torch.tensor(labels, dtype=torch.long)
    """,
}
