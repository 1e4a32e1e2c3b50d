"""What can be asked of a wallet's view, whichever kind of wallet it is."""

from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .models import Balance


class Holdings:
    """What a wallet holds."""

    def balance(self, product_id: Optional[str] = None) -> int:
        """Credits of a product that can be spent now, 0 where there are none; without a product of all that
        there are, which makes sense where only one product holds credits.
        """
        wallet: Any = self
        balances: list[Balance] = wallet.balances
        return sum(each.balance for each in balances if product_id in (None, each.product_id))

    def has_feature(self, feature: str) -> bool:
        """Whether it unlocks this feature."""
        wallet: Any = self
        return feature in wallet.features
