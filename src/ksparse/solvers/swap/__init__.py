"""The default solver for features, `SwapGraHTP`.

It minimizes f(x) over all x with at most k nonzero units, a unit being a feature or a group of features. It is a
search over supports: a support is tried by a refit, which minimizes f on it, and it is kept only if f is lower, so f
never rises (`descent`).

1. PURSUE is GraHTP (Yuan, Li and Zhang, JMLR 2018) with scaled steps: the k largest units of z = x − η·D⁻¹∇f(x), with D
   the diagonal of the Hessian or an estimate of it, are the next support. The step η begins at 16 and is halved until
   the refit lowers f.
2. When that lowers f by less than a tenth, swaps begin: one unit leaves the support and another one enters.
3. Candidates to enter are the units that gain most alone, ½·g²/D for a slope g (`ranking`).
4. SWAP ranks the swaps of all units of the support with all candidates by a quadratic model of f at x. What a
   swap changes, with all other coefficients refitted, has a closed form (`formula`).
5. A chain of swaps, each the best one after those before it, follows from the same numbers, which a sweep of a tableau
   updates after each swap (`tableau`, `screened`).
6. The whole chain is tried on f, then its first half, a quarter, and so on; these refits start from the minimizer that
   the model predicts, if it predicts one. If none lowers f, there is one more model with more candidates, and with
   that one single swaps are tried too, whatever the model predicts.
7. A support of more than 600 coordinates begins with BULK_SWAP: an eighth of its units at once, ranked by what each one
   costs or gains alone (`ranking`).
8. When no swap lowers f, RESTART explores: chains of swaps go on where no swap lowers f, in a model of all units if
   there are at most 64, and of the support and the candidates with the best swaps if there are at most 200
   (`exploring`). If the model of all units is exact, as on least squares, that is all. Otherwise chains begin at other
   supports too: the best units outside the support, and what backward elimination leaves of all units (`restarts`).
   With at most 64 units, descents, that is points 1 to 7, then begin at such supports, and a model is explored where
   each of them ends.
9. With effort, PERTURB descends from the best support with a tenth or a fifth of its units replaced at
   random, 3, 9, 27, 81 or 243 times. The highest effort ends with VERIFY: no single swap lowers f,
   or the message says that there are too many to try.
10. Finally f is minimized on the support to full accuracy, and of features with equal columns the first one is
    selected (`ties`).

`SwapGraHTP.run_phase` shows which phase follows which; `state` has what is remembered between iterations, `tuning` all
constants. A QUICK budget, for paths over k and for perturbations, ends where the model predicts that no swap lowers f.
"""

from .swap_grahtp import MAX_EFFORT, SwapGraHTP, check_no_effort

__all__ = ["MAX_EFFORT", "SwapGraHTP", "check_no_effort"]
